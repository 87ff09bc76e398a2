// What this browser keeps, also after its window was closed.

/** A value that is kept by a name; null where there is none. */
export function kept(name) {
  return {
    get: () => {
      try {
        return JSON.parse(localStorage.getItem(name));
      } catch {
        return null;
      }
    },
    set: (value) => {
      try {
        value ? localStorage.setItem(name, JSON.stringify(value)) : localStorage.removeItem(name);
      } catch {
        // A browser that keeps nothing loses the value with the page.
      }
    },
  };
}

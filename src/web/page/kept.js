// What this browser keeps over a reload, until its window is closed.

/** A value that is kept by a name; null where there is none. */
export function kept(name) {
  return {
    get: () => {
      try {
        return JSON.parse(sessionStorage.getItem(name));
      } catch {
        return null;
      }
    },
    set: (value) => {
      try {
        value ? sessionStorage.setItem(name, JSON.stringify(value)) : sessionStorage.removeItem(name);
      } catch {
        // A browser that keeps nothing loses the value with the page.
      }
    },
  };
}

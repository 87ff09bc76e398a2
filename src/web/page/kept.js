// Values stored in the browser beyond the life of its window.

/** Access to the value stored under a name; `get` returns null without one. */
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
        // Storage is disabled: the value ends with the page.
      }
    },
  };
}

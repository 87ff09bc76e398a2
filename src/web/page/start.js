// Loads the scripts in parallel after the first paint, so that they do not delay it.

requestAnimationFrame(() => setTimeout(async () => {
  for (const link of document.querySelectorAll("link[rel=later]")) link.rel = "modulepreload";
  try {
    await import("./app.js");
  } catch {
    document.getElementById("page").textContent = "The program does not answer. Trying again …";
    setTimeout(() => location.reload(), 3000);
  }
}));

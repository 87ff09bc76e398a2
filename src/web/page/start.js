// The first picture comes first: what runs the page is fetched meanwhile, and begins when the first frame is on its way to the screen.

requestAnimationFrame(() => setTimeout(async () => {
  try {
    await import("./app.js");
  } catch {
    document.getElementById("page").textContent = "The program does not answer. This page tries again in a moment.";
    setTimeout(() => location.reload(), 3000);
  }
}));

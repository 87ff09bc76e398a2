// The first picture comes first: what runs the page is fetched meanwhile, and begins when the first frame is on its way to the screen.

requestAnimationFrame(() => setTimeout(() => import("./app.js")));

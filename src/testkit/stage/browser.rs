//! A real browser: Chromium, driven by WebDriver's plain JSON.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Client;
use serde_json::{Value, json};
use testkit::{
    needs::{AXE, CHROMEDRIVER, CHROMIUM},
    within,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::page::client;

/// Key of elements in WebDriver's answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Starts a browser driver, and reads its port. A driver takes a free port of IPv4 and wants the
/// same one of IPv6; if that is taken, it ends, and another is started. The browser's downloads and
/// crash reports go into `home`.
async fn start_driver(program: &Path, home: &Path) -> (Child, String) {
    for _ in 0..10 {
        let mut driver = Command::new(program)
            .args(["--port=0", "--log-level=SEVERE"])
            .env("HOME", home)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("chromedriver starts");
        if let Some(port) = said_after(&mut driver, "successfully on port ").await {
            return (driver, port.trim_end_matches('.').to_owned());
        }
    }
    panic!("no chromedriver stays");
}

/// Returns the text after `words`, in the first output line that has them; later output is
/// discarded. `None` if the program ends without them.
async fn said_after(program: &mut Child, words: &str) -> Option<String> {
    let mut lines = BufReader::new(program.stdout.take().expect("a pipe")).lines();
    let said = within(words, async {
        while let Some(line) = lines.next_line().await.expect("a text") {
            if let Some((_, said)) = line.split_once(words) {
                return Some(said.to_owned());
            }
        }
        None
    });
    let said = said.await;
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    said
}

pub struct Browser {
    client: Client,
    session: String,
    _driver: Child,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub async fn start() -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let (driver, port) = start_driver(CHROMEDRIVER.path(), profile.path()).await;
        let client = client();
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--hide-scrollbars".to_owned(),
            "--no-first-run".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        let options = json!({ "binary": CHROMIUM.path(), "args": arguments });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "script": 150_000 },
        } } });
        let base = format!("http://127.0.0.1:{port}/session");
        let answer = client.post(&base).json(&wanted).send().await.expect("an answer");
        let answer: Value = answer.json().await.expect("JSON");
        let session = answer["value"]["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}"));
        let session = format!("{base}/{session}");
        let browser = Self { client, session, _driver: driver, _profile: profile };
        browser.resize(1400, 900).await;
        browser
    }

    async fn call(&self, command: &str, body: Value) -> Value {
        let url = format!("{}/{command}", self.session);
        let answer = self.client.post(url).json(&body).send().await.expect("an answer");
        let mut answer: Value = answer.json().await.expect("JSON");
        assert!(answer["value"]["error"].is_null(), "{command}: {}", answer["value"]);
        answer["value"].take()
    }

    async fn developer(&self, command: &str, parameters: Value) {
        self.call("goog/cdp/execute", json!({ "cmd": command, "params": parameters })).await;
    }

    /// Makes the page so wide and high, in its own pixels.
    pub async fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.developer("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Sets the system's colour scheme: `light` or `dark`.
    pub async fn prefer(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.developer("Emulation.setEmulatedMedia", features).await;
    }

    pub async fn go(&self, url: &str) {
        self.call("url", json!({ "url": url })).await;
    }

    pub async fn script(&self, script: &str) -> Value {
        self.call("execute/sync", json!({ "script": script, "args": [] })).await
    }

    /// Waits until an expression is true in the page.
    pub async fn until(&self, expression: &str) {
        let script = format!(
            "const done = arguments[0]; const begun = Date.now();
             (function look() {{
               let found = null;
               try {{ found = ({expression}); }} catch {{ /* not yet */ }}
               if (found) done(true);
               else if (Date.now() - begun > 120000) done(false);
               else setTimeout(look, 20);
             }})();"
        );
        let found = self.call("execute/async", json!({ "script": script, "args": [] })).await;
        if found != true {
            let page = self.script("return document.querySelector('main').innerText").await;
            panic!("in vain for {expression}; the page says: {page}\nconsole: {}", self.console().await);
        }
    }

    /// Waits until an expression is true, and lets the page hear nothing more from that moment on, so that it can be pictured.
    pub async fn still(&self, expression: &str) {
        let script = format!(
            "const done = arguments[0];
             import(document.querySelector('script').src.replace('start.js', 'server.js')).then(({{ live }}) => {{
               const begun = Date.now();
               (function look() {{
                 if ({expression}) (live.close(), done(true));
                 else if (Date.now() - begun > 120000) done(false);
                 else setTimeout(look, 20);
               }})();
             }});"
        );
        let found = self.call("execute/async", json!({ "script": script, "args": [] })).await;
        assert_eq!(found, true, "in vain for {expression}");
    }

    pub async fn console(&self) -> String {
        self.call("se/log", json!({ "type": "browser" })).await.to_string()
    }

    async fn element(&self, selector: &str) -> String {
        let found = self.call("element", json!({ "using": "css selector", "value": selector })).await;
        found[ELEMENT].as_str().expect("an element").to_owned()
    }

    /// Returns the times at which the page was loaded and first painted, ms.
    pub async fn speed(&self) -> String {
        let script = "const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
                      return `text after ${performance.getEntriesByType('navigation')[0].responseEnd.toFixed(1)} ms, first paint after ${paint} ms`";
        self.script(script).await.as_str().unwrap_or_default().to_owned()
    }

    pub async fn click(&self, selector: &str) {
        // In the middle of the window, where the header does not cover it.
        let scroll = format!("document.querySelector({selector:?}).scrollIntoView({{ block: 'center' }})");
        self.until(&format!("({scroll}, true)")).await;
        let element = self.element(selector).await;
        self.call(&format!("element/{element}/click"), json!({})).await;
    }

    pub async fn write(&self, selector: &str, text: &str) {
        let element = self.element(selector).await;
        self.call(&format!("element/{element}/value"), json!({ "text": text })).await;
    }

    /// Presses the pointer at each of these points, or drags it from the first to the last.
    pub async fn point(&self, points: &[(f64, f64)], drag: bool) {
        #[allow(clippy::cast_possible_truncation, reason = "pixels of a page")]
        let to = |(x, y): (f64, f64)| json!({ "type": "pointerMove", "duration": 30, "x": x as i64, "y": y as i64 });
        let (down, up) = (json!({ "type": "pointerDown", "button": 0 }), json!({ "type": "pointerUp", "button": 0 }));
        let mut actions = Vec::new();
        for (index, point) in points.iter().enumerate() {
            actions.push(to(*point));
            if !drag || index == 0 {
                actions.push(down.clone());
            }
            if !drag || index + 1 == points.len() {
                actions.push(up.clone());
            }
        }
        let mouse =
            json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions });
        self.call("actions", json!({ "actions": [mouse] })).await;
    }

    /// The middle of a square of the first board that can be played on, with White below.
    pub async fn square(&self, name: &str) -> (f64, f64) {
        let mut letters = name.bytes();
        let file = f64::from(letters.next().expect("a file") - b'a');
        let rank = f64::from(letters.next().expect("a rank") - b'1');
        self.middle(file, 7.0 - rank).await
    }

    /// The middle of the square in a column and a row from the upper left.
    pub async fn middle(&self, column: f64, row: f64) -> (f64, f64) {
        let script = "const box = document.querySelector('.board[role=application]').getBoundingClientRect();
                      return [box.left, box.top, box.width]";
        let box_ = self.script(script).await;
        let [left, top, width] = [0, 1, 2].map(|index| box_[index].as_f64().expect("a number"));
        (left + width * (column + 0.5) / 8.0, top + width * (row + 0.5) / 8.0)
    }

    /// Leaves a picture of the whole page in the folder of `CONCILIO_WEB_PICTURES`, if that is set.
    async fn picture(&self, name: &str) {
        // Pictures are taken after what moves has come to rest.
        self.until("!document.getAnimations().some((moving) => moving.playState === 'running')").await;
        // The window becomes as high as the page: what is out of sight may not be drawn.
        let sizes = "return [innerWidth, innerHeight, Math.min(2600, document.documentElement.scrollHeight)]";
        let sizes = self.script(sizes).await;
        let [width, height, whole] =
            [0, 1, 2].map(|index| sizes[index].as_u64().and_then(|size| u32::try_from(size).ok()));
        let (width, height) = (width.expect("a width"), height.expect("a height"));
        self.resize(width, whole.unwrap_or(height).max(height)).await;
        self.save(name).await;
        self.resize(width, height).await;
    }

    async fn save(&self, name: &str) {
        self.shoot(name, json!({})).await;
    }

    async fn shoot(&self, name: &str, parameters: Value) {
        let Some(folder) = pictures() else { return };
        let painted = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(1)))";
        self.call("execute/async", json!({ "script": painted, "args": [] })).await;
        let shot = json!({ "cmd": "Page.captureScreenshot", "params": parameters });
        let picture = self.call("goog/cdp/execute", shot).await;
        let bytes = BASE64_STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(format!("{name}.png")), bytes).expect("a file");
    }

    /// Leaves a picture of one element, no higher than the window.
    pub async fn part(&self, selector: &str, name: &str) {
        self.until("!document.getAnimations().some((moving) => moving.playState === 'running')").await;
        let script = format!(
            "scrollTo(0, 0); const box = document.querySelector({selector:?}).getBoundingClientRect();
             return {{ x: box.x - 8, y: box.y - 8, width: box.width + 16, height: Math.min(box.height, innerHeight) + 16, scale: 1 }};"
        );
        let clip = self.script(&script).await;
        self.shoot(name, json!({ "clip": clip, "captureBeyondViewport": true })).await;
    }

    /// Presses keys one after the other, wherever the focus is.
    pub async fn press(&self, keys: &str) {
        let strokes =
            keys.chars().flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })));
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": strokes.collect::<Vec<_>>() });
        self.call("actions", json!({ "actions": [keyboard] })).await;
    }

    /// The sum of the page's movements since it was opened, as the browser counts them.
    pub async fn layout_shift(&self) -> f64 {
        let script = "const done = arguments[0]; let sum = 0;
            const add = (list) => list.filter((shift) => !shift.hadRecentInput).forEach((shift) => (sum += shift.value));
            const observer = new PerformanceObserver((list) => add(list.getEntries()));
            observer.observe({ type: 'layout-shift', buffered: true });
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => (add(observer.takeRecords()), done(sum)))));";
        let sum = self.call("execute/async", json!({ "script": script, "args": [] })).await;
        sum.as_f64().expect("a sum")
    }

    /// The faults that axe-core finds in the page, a line each.
    pub async fn violations(&self) -> String {
        let axe = std::fs::read_to_string(AXE.path()).expect("axe-core");
        let script = format!(
            "{axe}; const done = arguments[0];
             axe.run(document, {{ resultTypes: ['violations'] }}).then(({{ violations }}) => done(violations.map(({{ id, nodes }}) =>
               `${{id}}: ${{nodes.map((node) => `${{node.target}} (${{node.any[0]?.message ?? node.failureSummary}})`).join('; ')}}`).join('\\n')));"
        );
        let found = self.call("execute/async", json!({ "script": script, "args": [] })).await;
        found.as_str().expect("text").to_owned()
    }

    /// Saves pictures at three widths, and in dark; and of one screen, for the manual.
    pub async fn pictures(&self, name: &str) {
        if pictures().is_none() {
            return;
        }
        self.resize(1200, 860).await;
        self.save(name).await;
        for (width, height) in [(390, 844), (800, 1100), (1400, 900)] {
            self.resize(width, height).await;
            self.picture(&format!("{name}-{width}")).await;
        }
        self.prefer("dark").await;
        self.picture(&format!("{name}-1400-dark")).await;
        self.resize(390, 844).await;
        self.picture(&format!("{name}-390-dark")).await;
        self.resize(1400, 900).await;
        self.prefer("light").await;
    }

    pub async fn close(self) {
        let _ = self.client.delete(&self.session).send().await;
    }
}

fn pictures() -> Option<PathBuf> {
    std::env::var_os("CONCILIO_WEB_PICTURES").map(PathBuf::from)
}

//! Pages: text made harmless, tables, and the frame that all pages share.

use std::fmt::{Display, Write as _};

use crate::statistics::MeanWithError;

/// The style of all pages, in a file beside them: readable without a script or external files,
/// light or dark as the reader prefers.
pub(super) const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 84em; padding: 1em; }
nav a { margin-right: 1em; } h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 1.6em; }
table { border-collapse: collapse; margin: .4em 0 1em; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .15em .7em; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; } .won { color: #2a7d2a; } .lost { color: #c0392b; }
.inaccuracy { color: #b8860b; } .mistake { color: #d2691e; } .blunder { color: #c0392b; font-weight: bold; }
.boards { display: flex; flex-wrap: wrap; gap: 1.2em; } figure { margin: 0; width: 240px; }
figcaption { font-size: .9em; } svg { max-width: 100%; height: auto; } details { margin-left: 1em; }
.scroll { overflow-x: auto; } .leaf { margin-left: 1em; }
.columns { display: flex; flex-wrap: wrap; gap: 0 2.5em; } .moves td { padding: .05em .6em; }
.soft { opacity: .7; } @media (max-width: 40em) { th, td { padding: .15em .35em; } }
";

/// A text from outside, as a page may show it.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A whole page. `root` leads to the folder of the report.
pub(super) fn page(title: &str, root: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><link rel=\"stylesheet\" href=\"{root}style.css\">\n\
         <nav><a href=\"{root}index.html\">Report</a><a href=\"{root}council.html\">Council</a>\
         <a href=\"{root}games-1.html\">Games</a></nav>\n<h1>{title}</h1>\n{body}</html>\n",
        title = escaped(title),
    )
}

/// A table that grows row by row.
pub(super) struct HtmlTable {
    html: String,
    figures: Vec<bool>,
    rows: usize,
}

impl HtmlTable {
    /// Creates a table with these titles; `#` at the start marks a column of figures.
    pub(super) fn new(titles: &[&str]) -> Self {
        let mut html = "<div class=\"scroll\"><table><tr>".to_owned();
        let figures: Vec<bool> = titles.iter().map(|title| title.starts_with('#')).collect();
        for (title, figure) in titles.iter().zip(&figures) {
            let class = if *figure { " class=\"n\"" } else { "" };
            // Writing to a string cannot fail, here and below.
            let _ = write!(html, "<th{class}>{}</th>", escaped(title.trim_start_matches('#')));
        }
        html.push_str("</tr>\n");
        Self { html, figures, rows: 0 }
    }

    /// Adds a row of cells that are HTML already.
    pub(super) fn row<T: Display>(&mut self, cells: &[T]) {
        self.html.push_str("<tr>");
        for (cell, figure) in cells.iter().zip(&self.figures) {
            let class = if *figure { " class=\"n\"" } else { "" };
            let _ = write!(self.html, "<td{class}>{cell}</td>");
        }
        self.html.push_str("</tr>\n");
        self.rows += 1;
    }

    /// Adds rows that are HTML already, from `<tr>` to `</tr>`.
    pub(super) fn with_rows(mut self, rows: &[String]) -> Self {
        rows.iter().for_each(|row| self.html.push_str(row));
        self.rows += rows.len();
        self
    }

    /// The table; nothing where it has no rows.
    pub(super) fn end(self) -> String {
        if self.rows == 0 { String::new() } else { self.html + "</table></div>\n" }
    }
}

/// `1.234 ± 0.056`, the second figure half the 95 % interval.
pub(super) fn mean(mean: &MeanWithError) -> String {
    if mean.count == 0 { "-".to_owned() } else { format!("{:.3} ± {:.3}", mean.mean, mean.margin()) }
}

/// Writes a figure with `decimals` decimals, or a dash.
pub(super) fn optional(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_a_tag() {
        let page = page("<script>alert('x')</script>", "", &escaped("\"><img src=x>"));
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    }

    #[test]
    fn empty_table_is_not_shown() {
        assert_eq!(HtmlTable::new(&["name", "#games"]).end(), "");
    }
}

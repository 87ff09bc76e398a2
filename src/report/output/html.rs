use std::fmt::{Display, Write as _};

use crate::statistics::GameSums;

/// The colours and fonts of all pages, and of the page in the browser.
pub const PALETTE: &str = include_str!("palette.css");

/// The style of all pages, in a file beside them: readable without a script or external files,
/// light or dark as the reader prefers.
pub const STYLE: &str = concat!(include_str!("palette.css"), include_str!("report.css"));

pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// Writes a whole page. `root` leads to the folder of the report.
pub(super) fn page(title: &str, root: &str, body: &str) -> String {
    let nav: String = [("index", "Report"), ("council", "Council"), ("games-1", "Games")]
        .map(|(name, text)| format!("<a href=\"{root}{name}.html\">{text}</a>"))
        .concat();
    framed(title, &format!("{root}style.css"), &nav, body)
}

/// Writes a page below `nav`, links in HTML.
pub(super) fn framed(title: &str, style: &str, nav: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title><link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"{style}\">\n\
         <header><nav aria-label=\"Pages\">{nav}</nav></header>\n<main>\n<h1>{title}</h1>\n{body}</main></html>\n",
        title = escaped(title),
    )
}

pub(super) struct HtmlTable {
    html: String,
    figures: Vec<bool>,
    rows: usize,
}

impl HtmlTable {
    /// Creates a table with these titles; `#` at the start marks a column of figures.
    pub(super) fn new(titles: &[&str]) -> Self {
        let mut html = "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>".to_owned();
        let figures: Vec<bool> = titles.iter().map(|title| title.starts_with('#')).collect();
        for (title, figure) in titles.iter().zip(&figures) {
            let class = if *figure { " class=\"n\"" } else { "" };
            // Writing to a string cannot fail, here and below. An empty cell is no header.
            let _ = match title.trim_start_matches('#') {
                "" => write!(html, "<td{class}></td>"),
                title => write!(html, "<th scope=\"col\"{class}>{}</th>", escaped(title)),
            };
        }
        html.push_str("</tr></thead><tbody>\n");
        Self { html, figures, rows: 0 }
    }

    pub(super) fn row<T: Display>(&mut self, cells: &[T]) {
        self.html.push_str("<tr>");
        for (cell, figure) in cells.iter().zip(&self.figures) {
            let class = if *figure { " class=\"n\"" } else { "" };
            let _ = write!(self.html, "<td{class}>{cell}</td>");
        }
        self.html.push_str("</tr>\n");
        self.rows += 1;
    }

    /// Adds rows in HTML, from `<tr>` to `</tr>`.
    pub(super) fn with_rows(mut self, rows: &[String]) -> Self {
        rows.iter().for_each(|row| self.html.push_str(row));
        self.rows += rows.len();
        self
    }

    /// Returns the table; empty without rows.
    pub(super) fn end(self) -> String {
        if self.rows == 0 { String::new() } else { self.html + "</tbody></table></div>\n" }
    }
}

/// `1.234 ± 0.056`, the second figure half the 95 % interval.
pub(super) fn mean(sums: &GameSums) -> String {
    let mean = sums.mean();
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

//! The page in the browser, and the channel through which a running daemon is told what to do.

mod settings;

pub use settings::WebSettings;

use std::{net::SocketAddr, path::PathBuf};

use util::{
    Fault, Secret, SecretError,
    values::{WholeNumber, named},
};

util::settings! {
    /// The `web` table: where the page and the control channel are, and who may do what there.
    #[derive(Eq)]
    pub struct WebSettings {
        /// Address of the page, such as "127.0.0.1:8080"; port 0 is any free one. Empty: there is no
        /// page. An address beyond loopback needs the operator's secret.
        pub address: String = String::new(),
        /// The file that holds the operator's secret, and nothing else. Empty: it is in
        /// CONCILIO_WEB_SECRET or in systemd's credential web-secret, or there is none, and the page
        /// changes nothing.
        pub secret_file: PathBuf = PathBuf::new(),
        /// True to let all clients read the page without the secret. Without a secret, all clients may
        /// read it.
        pub public: bool = false,
        /// Further names by which browsers call the page, for one behind a proxy, such as
        /// `["bot.example.org"]`. Numbers and localhost are always understood; any other name is
        /// refused, so that no foreign page can pass for this one.
        pub hosts: Vec<String> = Vec::new(),
        /// The Unix socket through which `concilio ctl` speaks to the daemon, without a secret: a user
        /// who may open it owns the bot. Empty: beside the journal.
        pub socket: PathBuf = PathBuf::new(),
        /// Maximum number of watching browsers. 1 to 1000.
        #[serde(with = "WholeNumber::<1, 1000>")]
        pub watchers: usize = 64,
    }
}

impl WebSettings {
    pub const SECRET_VARIABLE: &str = "CONCILIO_WEB_SECRET";

    /// Returns the address of the page; `None` if there is none, or it is invalid (see
    /// [`Self::faults`]).
    pub fn listen_address(&self) -> Option<SocketAddr> {
        self.address.parse().ok()
    }

    /// Returns the operator's secret from the file, the environment or systemd's credentials, if there is one.
    pub fn secret(&self) -> Result<Option<Secret>, SecretError> {
        Secret::find("page's secret", named(&self.secret_file), Self::SECRET_VARIABLE, "web-secret")
    }

    /// Returns faults of values that are well-formed each.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if !self.address.is_empty() && self.listen_address().is_none() {
            faults.push(Fault::value("address", "an address and a port such as 127.0.0.1:8080, or \"\" for no page"));
        }
        if named(&self.secret_file).is_some_and(|file| !file.is_file()) {
            faults.push(Fault::value("secret_file", "a file that exists"));
        }
        let is_host = |host: &String| {
            let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
            !host.is_empty() && host.len() <= 253 && host.chars().all(known)
        };
        if !self.hosts.iter().all(is_host) {
            faults.push(Fault::value("hosts", "names of hosts such as bot.example.org, without scheme and port"));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_address_is_named() {
        let settings = WebSettings { address: "localhost".to_owned(), ..WebSettings::default() };
        assert!(matches!(settings.faults().as_slice(), [Fault::Value { key, .. }] if key == &["address"]));
        let settings = WebSettings { address: "127.0.0.1:0".to_owned(), ..WebSettings::default() };
        assert_eq!((settings.faults(), settings.listen_address().is_some()), (vec![], true));
        assert_eq!((WebSettings::default().faults(), WebSettings::default().listen_address()), (vec![], None));
    }

    #[test]
    fn host_is_a_bare_name() {
        for host in ["https://example.org", "example.org:80", "", "a b"] {
            let settings = WebSettings { hosts: vec![host.to_owned()], ..WebSettings::default() };
            assert_eq!(settings.faults().len(), 1, "{host:?}");
        }
    }
}

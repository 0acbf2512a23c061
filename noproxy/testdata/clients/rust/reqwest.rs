//! Asks reqwest. A line in (fields separated by 0x1f: URL, then name=value),
//! a line out.
use std::io::BufRead;
use std::time::Duration;

const NAMES: [&str; 9] = [
    "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
    "REQUEST_METHOD",
];

fn get(url: &str) -> reqwest::Result<()> {
    reqwest::blocking::Client::builder()
        .timeout(Duration::from_secs(5))
        .danger_accept_invalid_certs(true)
        .build()?
        .get(url)
        .send()?
        .bytes()?;
    Ok(())
}

fn main() {
    // No certificate is looked at; reading them all takes longest.
    unsafe { std::env::set_var("SSL_CERT_FILE", "/dev/null") };
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let mut fields = line.split('\u{1f}');
        let url = fields.next().unwrap_or_default();
        for name in NAMES {
            unsafe { std::env::remove_var(name) };
        }
        for (name, value) in fields.filter_map(|f| f.split_once('=')) {
            unsafe { std::env::set_var(name, value) };
        }
        match get(url) {
            Ok(()) => println!("ok"),
            Err(e) => println!("{}", format!("{e:?}").replace('\n', " ")),
        }
    }
}

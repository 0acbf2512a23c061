//! Asks libcurl, built from the sources that one version of curl-sys carries.
//! A line in (fields separated by 0x1f: URL, then name=value), a line out.
use std::ffi::{CStr, CString};
use std::io::BufRead;
use std::os::raw::{c_char, c_int, c_long};

extern "C" fn discard(_: *mut c_char, size: usize, count: usize, _: *mut std::ffi::c_void) -> usize {
    size * count
}

fn get(url: &str) -> Result<(), String> {
    let url = CString::new(url).map_err(|e| e.to_string())?;
    unsafe {
        let handle = curl_sys::curl_easy_init();
        curl_sys::curl_easy_setopt(handle, curl_sys::CURLOPT_URL, url.as_ptr());
        curl_sys::curl_easy_setopt(handle, curl_sys::CURLOPT_TIMEOUT, 5 as c_long);
        curl_sys::curl_easy_setopt(handle, curl_sys::CURLOPT_SSL_VERIFYPEER, 0 as c_long);
        curl_sys::curl_easy_setopt(handle, curl_sys::CURLOPT_WRITEFUNCTION, discard as *const ());
        let code = curl_sys::curl_easy_perform(handle);
        curl_sys::curl_easy_cleanup(handle);
        if code as c_int != 0 {
            return Err(CStr::from_ptr(curl_sys::curl_easy_strerror(code)).to_string_lossy().into_owned());
        }
    }
    Ok(())
}

const NAMES: [&str; 8] = [
    "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
];

fn main() {
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
            Err(e) => println!("{e}"),
        }
    }
}

#![no_main]
mod rates_shared;
libfuzzer_sys::fuzz_target!(|data: &[u8]| { rates_shared::rates(data); });

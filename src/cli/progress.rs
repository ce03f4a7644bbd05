//! Progress bars on a terminal; none in a pipe.

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Mutex;
use topostream_tools::progress::{Progress, Unit};

/// One bar at a time, on stderr.
#[derive(Default)]
pub struct Bars(Mutex<Option<ProgressBar>>);

impl Progress for Bars {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        self.end();
        if std::io::stderr().is_terminal() {
            *self.0.lock().expect("no panic while a bar is drawn") = Some(bar(stage, total, unit));
        }
    }

    fn position(&self, position: u64) {
        if let Some(bar) = &*self.0.lock().expect("no panic while a bar is drawn") {
            bar.set_position(position);
        }
    }

    fn end(&self) {
        if let Some(bar) = self.0.lock().expect("no panic while a bar is drawn").take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.end();
    }
}

fn bar(stage: &str, total: Option<u64>, unit: Unit) -> ProgressBar {
    let (position, of, rate) = match unit {
        Unit::Bytes => ("{binary_bytes}", "{binary_total_bytes}", "{binary_bytes_per_sec}"),
        Unit::Edges => ("{human_pos} edges", "{human_len}", "{rate} edges/s"),
        Unit::Pages => ("{human_pos} pages", "{human_len}", "{rate} pages/s"),
    };
    let template = match total {
        Some(_) => format!("{{msg:20}} {{bar:30}} {position} of {of}, {rate}, {{eta}} left"),
        None => format!("{{msg:20}} {{spinner}} {position}, {rate}, {{elapsed}}"),
    };
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let per_second = |state: &ProgressState, text: &mut dyn Write| {
        write!(text, "{}", HumanCount(state.per_sec() as u64)).ok();
    };
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    bar.set_style(style.with_key("rate", per_second));
    bar.set_message(stage.to_owned());
    bar
}

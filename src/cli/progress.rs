//! Progress bars on a terminal; none in a pipe.

use super::host::{self, Hears};
use super::verbosity;
use crate::engine::{self, Moment, Stage};
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use topostream_formats::text::{counted, rate};
use topostream_formats::threads;
use topostream_tools::progress::{Progress, Unit};

/// One bar at a time, on stderr; inside another program, none: that program is sent the stages.
pub struct Bars(Mutex<Option<ProgressBar>>, Option<Hears>);

impl Default for Bars {
    fn default() -> Self {
        Self(Mutex::default(), host::hears())
    }
}

impl Progress for Bars {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        if let Some(hears) = &self.1 {
            return hears.begin(stage, total, unit);
        }
        self.end();
        if shows() {
            *self.0.lock().expect("no panic while a bar is drawn") = Some(bar(stage, total, unit));
        }
    }

    fn position(&self, position: u64) {
        if let Some(hears) = &self.1 {
            return hears.position(position);
        }
        if let Some(bar) = &*self.0.lock().expect("no panic while a bar is drawn") {
            bar.set_position(position);
        }
    }

    fn end(&self) {
        if let Some(hears) = &self.1 {
            return hears.end();
        }
        if let Some(bar) = self.0.lock().expect("no panic while a bar is drawn").take() {
            bar.finish_and_clear();
        }
    }
}

/// Whether progress is shown.
pub fn shows() -> bool {
    std::io::stderr().is_terminal() && !verbosity::is_quiet()
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.end();
    }
}

/// A line on stderr that shows how far a run has come, several times a second; nothing in a pipe.
pub fn of_run(progress: Arc<engine::Progress>) -> ProgressBar {
    if !shows() {
        return ProgressBar::hidden();
    }
    let begun = Instant::now();
    let line = move |_: &ProgressState, text: &mut dyn Write| {
        write!(text, "{}", run_line(&progress.now(), begun.elapsed())).ok();
    };
    let style = ProgressStyle::with_template("{spinner} {run}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner();
    bar.set_style(style.with_key("run", line));
    // The bar's own thread may not be refused: it would panic.
    if threads::start("progress", 1, || ()).is_ok_and(|thread| thread.join().is_ok()) {
        bar.enable_steady_tick(Duration::from_millis(120));
    }
    bar
}

/// The characters of the bar within a superstep.
const BAR_WIDTH: u64 = 16;

/// What the line says.
fn run_line(now: &Moment, elapsed: Duration) -> String {
    let Moment { superstep, pages, pages_done, edges, disk_bytes, done, iterations, stage } = *now;
    let filled = (BAR_WIDTH * pages_done.min(pages)).checked_div(pages).unwrap_or(0) as usize;
    let bar = "█".repeat(filled) + &"░".repeat(BAR_WIDTH as usize - filled);
    let per_second = |count: u64, unit: f64| count as f64 / unit / elapsed.as_secs_f64().max(1e-3);
    if let Some(Stage { iteration, level, round }) = stage {
        let stage = round.map_or("refinement".into(), |round| format!("round {}", round + 1));
        let line = format!("iteration {}, level {level}, {stage} {bar}", iteration + 1);
        return format!("{line}, {}", HumanDuration(Duration::from_secs(elapsed.as_secs())));
    }
    let mut line = format!("superstep {superstep} {bar} {} of {}", pages_done.min(pages), counted(pages, "page"));
    if disk_bytes > 0 {
        write!(line, ", {:.2} GB/s", per_second(disk_bytes, 1e9)).ok();
    }
    if edges > 0 {
        write!(line, ", {} edges/s", rate(per_second(edges, 1.0))).ok();
    }
    if let Some((_, residual)) = iterations {
        write!(line, ", change {residual:.1e}").ok();
    }
    write!(line, ", {}", HumanDuration(Duration::from_secs(elapsed.as_secs()))).ok();
    // Before that, the rate is a guess.
    if let Some(done) = done.filter(|&done| done > 0.0 && elapsed > Duration::from_secs(2)) {
        let left = elapsed.as_secs_f64() * (1.0 - done) / done;
        write!(line, ", {} left", HumanDuration(Duration::from_secs(left as u64))).ok();
    }
    line
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_run_says_how_far_it_is() {
        let now = Moment {
            superstep: 3,
            pages: 4096,
            pages_done: 1024,
            edges: 5_000_000_000,
            disk_bytes: 20_000_000_000,
            done: Some(0.25),
            iterations: Some((3, 0.00123)),
            stage: None,
        };
        let line = run_line(&now, Duration::from_secs(10));
        let expected = "superstep 3 ████░░░░░░░░░░░░ 1024 of 4,096 pages, 2.00 GB/s, 500 M edges/s, change 1.2e-3";
        assert_eq!(line, format!("{expected}, 10 seconds, 30 seconds left"));
        let unknown = Moment { done: None, iterations: None, disk_bytes: 0, pages: 0, ..now };
        let line = run_line(&unknown, Duration::from_secs(90));
        assert_eq!(line, "superstep 3 ░░░░░░░░░░░░░░░░ 0 of 0 pages, 55.6 M edges/s, 2 minutes");
        let stage = Some(Stage { iteration: 1, level: 2, round: None });
        let line = run_line(&Moment { stage, pages: 32, pages_done: 8, ..now }, Duration::from_secs(90));
        assert_eq!(line, "iteration 2, level 2, refinement ████░░░░░░░░░░░░, 2 minutes");
    }
}

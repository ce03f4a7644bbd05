//! A campaign: cases from a seed, run on a few threads within a time budget, counted by outcome.

use crate::random::Random;
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The outcome of a case, or a defect. The text before a defect's first colon is its kind.
pub type Verdict = Result<&'static str, String>;

/// A campaign stops after this many defects.
const DEFECTS_MAX: usize = 40;

/// Maximum number of defects printed for each kind.
const PRINTED_MAX: usize = 3;

/// Full campaigns run one after another, each on all cores.
static TURN: Mutex<()> = Mutex::new(());

/// One campaign.
pub struct Campaign {
    name: &'static str,
    /// The name of its test, for the command that repeats a case.
    test: String,
    pub seed: u64,
    pub threads: usize,
    cases: u64,
    budget: Option<Duration>,
    only: Option<u64>,
    full: bool,
    _turn: Option<MutexGuard<'static, ()>>,
}

/// One case: its number, its random numbers and its folder.
pub struct Case {
    pub number: u64,
    pub random: Random,
    folder: TempDir,
}

impl Case {
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Counts.
#[derive(Default)]
struct Score {
    outcomes: BTreeMap<String, u64>,
    defects: BTreeMap<String, Vec<String>>,
}

impl Campaign {
    /// The small part that every `cargo test` runs: a fixed set of cases.
    pub fn share(name: &'static str, test: &str, cases: u64) -> Self {
        Self::new(name, test, cases, None, false)
    }

    /// The full campaign: `cases` cases, or as many as fit in its share of the time budget, if there is one.
    pub fn full(name: &'static str, test: &str, cases: u64, share_of_budget: f64) -> Self {
        let minutes = variable("MINUTES").map(|minutes: f64| Duration::from_secs_f64(60.0 * minutes * share_of_budget));
        Self::new(name, test, cases, minutes, true)
    }

    fn new(name: &'static str, test: &str, cases: u64, budget: Option<Duration>, full: bool) -> Self {
        let now = || std::time::UNIX_EPOCH.elapsed().expect("a clock behind 1970").as_nanos() as u64 % 1_000_000_000;
        let seed = variable("SEED").unwrap_or_else(|| if full { now() } else { 1 });
        let turn = full.then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner));
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
        Self { name, test: test.to_owned(), seed, threads, cases, budget, only: variable("CASE"), full, _turn: turn }
    }

    /// Random numbers for what all cases share.
    pub fn random(&self) -> Random {
        Random::of_case(self.seed, self.name, u64::MAX)
    }

    /// Whether this is the full campaign.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Runs the cases, prints the outcomes, and fails with the commands that repeat the defects.
    #[track_caller]
    pub fn run(&self, case: impl Fn(&mut Case) -> Verdict + Sync) {
        let started = Instant::now();
        let score = Mutex::new(Score::default());
        let next = AtomicU64::new(self.only.unwrap_or(0));
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    while let Some(number) = self.next(&next, started, &score) {
                        self.one(number, &case, &score);
                    }
                });
            }
        });
        let score = score.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.finish(&score, started.elapsed());
    }

    /// The number of the next case, or `None` at the end.
    fn next(&self, next: &AtomicU64, started: Instant, score: &Mutex<Score>) -> Option<u64> {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let more = match (self.only, self.budget) {
            (Some(only), _) => number == only,
            (None, Some(budget)) => started.elapsed() < budget,
            (None, None) => number < self.cases,
        };
        let defects: usize = lock(score).defects.values().map(Vec::len).sum();
        (more && defects < DEFECTS_MAX).then_some(number)
    }

    fn one(&self, number: u64, run: &(impl Fn(&mut Case) -> Verdict + Sync), score: &Mutex<Score>) {
        let folder = tempfile::Builder::new().prefix("topostream-campaign-").tempdir().expect("a temporary folder");
        let mut case = Case { number, random: Random::of_case(self.seed, self.name, number), folder };
        let verdict = catch_unwind(AssertUnwindSafe(|| run(&mut case)));
        let verdict = verdict.unwrap_or_else(|panic| Err(format!("panic of the test: {}", text_of(panic.as_ref()))));
        if self.only.is_some() {
            case.folder.disable_cleanup(true);
            say(&format!("case {number}: {verdict:?}; its folder is {}\n", case.folder.path().display()));
        }
        let mut score = lock(score);
        match verdict {
            Ok(outcome) => *score.outcomes.entry(outcome.to_owned()).or_default() += 1,
            Err(defect) => {
                let kind = defect.split(':').next().expect("the first part").to_owned();
                score.defects.entry(kind).or_default().push(format!("case {number}: {defect}"));
            }
        }
    }

    /// Prints a row of the table, and the defects.
    #[track_caller]
    fn finish(&self, score: &Score, took: Duration) {
        let defects: usize = score.defects.values().map(Vec::len).sum();
        let cases = score.outcomes.values().sum::<u64>() + defects as u64;
        let mut outcomes: Vec<String> = score.outcomes.iter().map(|(name, count)| format!("{name} {count}")).collect();
        outcomes.extend(score.defects.iter().map(|(kind, all)| format!("**{kind}** {}", all.len())));
        let (name, seed, seconds) = (self.name, self.seed, took.as_secs_f64());
        say(&format!("| {name} | {cases} | {} | {seed} | {seconds:.1} s |\n", outcomes.join(", ")));
        if defects == 0 {
            assert!(cases > 0, "{name}: no case was run");
            return;
        }
        let mut message = format!("{name}, seed {seed}: {defects} of {cases} cases are wrong\n");
        for (kind, all) in &score.defects {
            message += &format!("\n{kind}: {}\n", all.len());
            all.iter().take(PRINTED_MAX).for_each(|defect| message += &format!("    {defect}\n"));
        }
        let ignored = if self.full { " --ignored" } else { "" };
        message += &format!(
            "\nrepeat a case: TOPOSTREAM_CAMPAIGN_SEED={seed} TOPOSTREAM_CAMPAIGN_CASE=NUMBER cargo test --release \
             --test \
             campaign -- --exact {}{ignored}\n",
            self.test
        );
        panic!("{message}");
    }
}

/// The number in a `TOPOSTREAM_CAMPAIGN_…` variable.
pub fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    let name = format!("TOPOSTREAM_CAMPAIGN_{name}");
    let text = std::env::var(&name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: a number is expected")))
}

/// Prints past the capture of the test harness.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn lock(score: &Mutex<Score>) -> MutexGuard<'_, Score> {
    score.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The message of a panic.
pub fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "?".to_owned())
}

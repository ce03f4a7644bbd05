//! Meters of each stripe in a run: reads, bytes, and the time with reads in flight.

use crate::pages::fetch::PageRef;
use serde::Serialize;
use std::time::Instant;
use topostream_formats::Store;

/// The reads from one of the directories that pages are striped over.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StripeReport {
    /// The directory.
    pub path: String,
    /// Pages read, including repeated reads.
    pub pages: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Nanoseconds with at least one read in flight on this stripe.
    pub busy_ns: u64,
    /// Reads that were repeated after a failure.
    pub retries: u64,
}

impl StripeReport {
    /// Bytes over busy time, in GB/s.
    pub fn gb_per_s(&self) -> f64 {
        if self.busy_ns == 0 { 0.0 } else { self.bytes as f64 / self.busy_ns as f64 }
    }
}

/// A meter for each stripe.
#[derive(Debug)]
pub(crate) struct StripeMeters {
    stripes: Vec<Meter>,
}

#[derive(Debug)]
struct Meter {
    report: StripeReport,
    in_flight: u64,
    /// When this stripe last became busy.
    since: Instant,
}

impl StripeMeters {
    pub(crate) fn new(store: &Store) -> Self {
        let meter = |path: std::path::PathBuf| Meter {
            report: StripeReport { path: path.display().to_string(), ..StripeReport::default() },
            in_flight: 0,
            since: Instant::now(),
        };
        Self { stripes: store.stripes().map(meter).collect() }
    }

    pub(crate) fn read_begins(&mut self, page: PageRef, bytes: u64) {
        let Meter { report, in_flight, since } = self.of(page);
        if *in_flight == 0 {
            *since = Instant::now();
        }
        *in_flight += 1;
        report.pages += 1;
        report.bytes += bytes;
    }

    pub(crate) fn read_ends(&mut self, page: PageRef) {
        let Meter { report, in_flight, since } = self.of(page);
        *in_flight -= 1;
        if *in_flight == 0 {
            report.busy_ns += since.elapsed().as_nanos() as u64;
        }
    }

    /// Counts a read that has to be repeated.
    pub(crate) fn retried(&mut self, page: PageRef) {
        self.of(page).report.retries += 1;
    }

    pub(crate) fn reports(&self) -> Vec<StripeReport> {
        self.stripes.iter().map(|meter| meter.report.clone()).collect()
    }

    fn of(&mut self, page: PageRef) -> &mut Meter {
        let stripe = page.stripe(self.stripes.len());
        &mut self.stripes[stripe]
    }
}

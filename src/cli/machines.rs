//! Options of `plan` about several machines, and about graphs that need not exist.

use super::args::size;
use super::failure::Failure;
use super::tables;
use crate::predict::{Assumed, GraphSize, Machines, Network, Workload};
use crate::team::assignment::DEVICES_MAX;
use clap::Args;
use topostream_formats::ids::VERTICES_MAX;

/// The latency of a message if none is given, in nanoseconds.
const LATENCY_NS: u64 = 50_000;
/// The maximum number of edges of an assumed graph.
const EDGES_MAX: u64 = 1 << 56;
/// The maximum latency, in seconds.
const LATENCY_S_MAX: f64 = 10.0;

/// Options about several machines and assumed graphs.
#[derive(Args)]
#[command(next_help_heading = "Several machines")]
pub struct MachineArgs {
    /// Machines that share the run, each like this one: its rates, disks, devices and memory
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    machines: Option<u32>,
    /// The rate of a machine's link, in each direction: 10Gbit, 25Gbit/s, 1.2GB/s
    #[arg(long, global = true, value_name = "RATE", value_parser = rate)]
    network: Option<u64>,
    /// The time of a short message between two machines [default: 50us]
    #[arg(long, global = true, value_name = "TIME", value_parser = latency)]
    latency: Option<u64>,
    /// Predict for a graph of this size, with the kinds of lists and pages of the store: rmat:SCALE:EDGE_FACTOR or
    /// VERTICES:EDGES
    #[arg(long, global = true, value_name = "SIZE", value_parser = graph)]
    graph: Option<GraphSize>,
    /// Bytes of pages for each edge of that graph [default: those of the store]
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes_per_edge)]
    bytes_per_edge: Option<f64>,
}

impl MachineArgs {
    /// The machines.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there are several and nothing says how they are connected, or the reverse.
    pub fn machines(&self) -> Result<Machines, Failure> {
        let usage = |message: &str| Err(Failure::Usage(message.into()));
        match (self.machines, self.network) {
            (Some(1), _) => Ok(Machines::ALONE),
            (Some(count), Some(bytes_per_s)) => {
                let latency_ns = self.latency.unwrap_or(LATENCY_NS);
                Ok(Machines { count, network: Network { bytes_per_s, latency_ns } })
            }
            (Some(_), None) => usage("--machines: needs the rate of their network, such as --network 10Gbit"),
            (None, Some(_)) => usage("--network: goes with --machines N"),
            (None, None) if self.latency.is_some() => usage("--latency: goes with --machines N"),
            (None, None) => Ok(Machines::ALONE),
        }
    }

    /// What is assumed in place of properties of the store.
    ///
    /// # Errors
    /// [`Failure::Usage`] if bytes an edge are given, and no graph.
    pub fn assumed(&self, shards: Option<u64>) -> Result<Assumed, Failure> {
        if self.bytes_per_edge.is_some() && self.graph.is_none() {
            return Err(Failure::Usage("--bytes-per-edge: goes with --graph SIZE".into()));
        }
        let graph = self.graph.map(|graph| GraphSize { bytes_per_edge: self.bytes_per_edge, ..graph });
        Ok(Assumed { graph, shards })
    }
}

/// Says what a prediction assumes, for people: the machines and the graph.
pub fn describe(machines: &Machines, assumed: &Assumed, work: &Workload) -> String {
    let mut text = String::new();
    if machines.count > 1 {
        let Network { bytes_per_s, latency_ns } = machines.network;
        text += &format!(
            "machines: {} like this one; network: {:.3} GB/s to and from each at the same time, {} us; every machine \
             sends its values to all others\n",
            machines.count,
            bytes_per_s as f64 / 1e9,
            latency_ns as f64 / 1e3
        );
    }
    if assumed.graph.is_some() {
        text += &format!(
            "graph: {}, {}, {:.2} bytes of pages an edge, in place of the store's\n",
            tables::counted(work.vertices, "vertex"),
            tables::counted(work.edges, "edge"),
            work.pages * work.page_bytes / work.edges as f64
        );
    }
    text
}

/// Returns why a run on these devices, over this graph, is not possible yet: predictions do not depend on it.
pub fn limits(devices: u64, vertices: u64) -> Vec<String> {
    let mut limits = Vec::new();
    if devices > DEVICES_MAX as u64 {
        limits.push(format!("{devices} devices in all: a run has at most {DEVICES_MAX}"));
    }
    if vertices > VERTICES_MAX {
        let (vertices, most) = (tables::count(vertices), tables::count(VERTICES_MAX));
        limits.push(format!("{vertices} vertices: a store has at most {most}"));
    }
    limits
}

/// Parses a rate such as `10Gbit`, `25Gbit/s`, `10Gbps` or `1.2GB/s`, in bytes per second.
///
/// # Errors
/// A message for the user if it is not a rate, or 0.
pub fn rate(text: &str) -> Result<u64, String> {
    const EXAMPLES: &str = "rates look like 10Gbit, 25Gbit/s, 1.2GB/s";
    let amount = text.strip_suffix("/s").unwrap_or(text);
    let bits = ["bits", "bit", "bps"].iter().find_map(|unit| amount.strip_suffix(unit));
    let bytes = match bits {
        Some(bits) => size(bits).map(|bits| bits / 8).map_err(|_| format!("not a number of bits; {EXAMPLES}"))?,
        None if amount.ends_with('B') => size(amount).map_err(|_| format!("not a number of bytes; {EXAMPLES}"))?,
        None if amount.ends_with('b') => return Err(format!("`b` may be bits or bytes: write bit or B; {EXAMPLES}")),
        None => return Err(format!("no unit; {EXAMPLES}")),
    };
    if bytes > 0 { Ok(bytes) } else { Err(format!("must be at least one byte a second; {EXAMPLES}")) }
}

/// Parses a time such as `50us` or `1.5ms`, in nanoseconds.
fn latency(text: &str) -> Result<u64, String> {
    const EXAMPLES: &str = "times look like 2us, 50us, 1.5ms";
    let units = [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))
        .ok_or_else(|| format!("no unit; {EXAMPLES}"))?;
    let number: f64 = number.trim().parse().map_err(|_| format!("not a number and a unit; {EXAMPLES}"))?;
    match (0.0..=LATENCY_S_MAX).contains(&(number * unit)) {
        true => Ok((number * unit * 1e9).round() as u64),
        false => Err(format!("expected 0 to {LATENCY_S_MAX} s; {EXAMPLES}")),
    }
}

/// Parses `rmat:SCALE:EDGE_FACTOR` or `VERTICES:EDGES`.
fn graph(text: &str) -> Result<GraphSize, String> {
    const EXAMPLES: &str = "sizes look like rmat:36:16 or 68719476736:1099511627776";
    let number = |text: &str| text.trim().parse::<u64>().map_err(|error| format!("{text:?}: {error}; {EXAMPLES}"));
    let parts: Vec<&str> = text.split(':').collect();
    let (vertices, edges) = match parts[..] {
        ["rmat", scale, factor] => {
            let scale = number(scale)?;
            if !(1..=48).contains(&scale) {
                return Err(format!("expected a scale of 1 to 48, found {scale}; {EXAMPLES}"));
            }
            (1 << scale, number(factor)?.checked_mul(1 << scale))
        }
        [vertices, edges] => (number(vertices)?, Some(number(edges)?)),
        _ => return Err(EXAMPLES.into()),
    };
    let edges = edges.filter(|edges| (1..=EDGES_MAX).contains(edges));
    let edges = edges.ok_or_else(|| format!("expected 1 to {EDGES_MAX} edges; {EXAMPLES}"))?;
    match (1..=EDGES_MAX).contains(&vertices) {
        true => Ok(GraphSize { vertices, edges, bytes_per_edge: None }),
        false => Err(format!("expected 1 to {EDGES_MAX} vertices; {EXAMPLES}")),
    }
}

fn bytes_per_edge(text: &str) -> Result<f64, String> {
    let bytes: f64 = text.parse().map_err(|_| "expected a number such as 2.3")?;
    if (0.01..=64.0).contains(&bytes) { Ok(bytes) } else { Err("expected 0.01 to 64".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_units() {
        let rates = [
            ("10Gbit", 1_250_000_000),
            ("10Gbit/s", 1_250_000_000),
            ("2.5Gbps", 312_500_000),
            ("100Mbit", 12_500_000),
            ("1.2GB/s", 1_200_000_000),
            ("1GiB", 1 << 30),
            ("8bit/s", 1),
        ];
        for (text, bytes) in rates {
            assert_eq!(rate(text), Ok(bytes), "{text}");
        }
        let refused = [
            ("10", "no unit"),
            ("10G", "no unit"),
            ("10Gb", "bits or bytes"),
            ("7bit", "at least one byte"),
            ("0GB/s", "at least one byte"),
            ("-1Gbit", "not a number of bits"),
            ("xGB", "not a number of bytes"),
            ("bit", "not a number of bits"),
            ("/s", "no unit"),
            ("", "no unit"),
            ("99999999999GB", "not a number of bytes"),
        ];
        for (text, why) in refused {
            let error = rate(text).unwrap_err();
            assert!(error.contains(why) && error.contains("1.2GB/s"), "{text}: {error}");
        }
    }

    #[test]
    fn latencies_have_units() {
        for (text, ns) in
            [("50us", 50_000), ("1.5 ms", 1_500_000), ("2µs", 2_000), ("7ns", 7), ("0s", 0), ("10s", 10_000_000_000)]
        {
            assert_eq!(latency(text), Ok(ns), "{text}");
        }
        for (text, why) in [
            ("50", "no unit"),
            ("-1us", "0 to 10 s"),
            ("NaNs", "0 to 10 s"),
            ("11s", "0 to 10 s"),
            ("us", "not a number"),
        ] {
            assert!(latency(text).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn graphs_are_sizes() {
        let size = |vertices, edges| Ok(GraphSize { vertices, edges, bytes_per_edge: None });
        assert_eq!(graph("rmat:36:16"), size(1 << 36, 1 << 40));
        assert_eq!(graph("10:25"), size(10, 25));
        for text in [
            "rmat:0:16",
            "rmat:49:1",
            "rmat:20",
            "rmat:20:0",
            "rmat:48:65536",
            "0:5",
            "5:0",
            "5",
            "a:b",
            "1:2:3",
            "rmat:9:18446744073709551615",
        ] {
            assert!(graph(text).unwrap_err().contains("rmat:36:16"), "{text}");
        }
        for text in ["0", "-1", "NaN", "65", "x"] {
            assert!(bytes_per_edge(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_of_runs_are_named() {
        assert_eq!(limits(64, 1 << 32), Vec::<String>::new());
        let both = limits(65, 1 << 36).join("; ");
        assert!(both.contains("65 devices in all: a run has at most 64"), "{both}");
        assert!(both.contains("68,719,476,736 vertices: a store has at most 4,294,967,296"), "{both}");
    }
}

//! Options of `plan` about several machines, and about graphs that need not exist.

use super::args::size;
use super::tables;
use crate::predict::{Assumed, GraphSize, Machines, Workload};
use crate::team::assignment::DEVICES_MAX;
use clap::Args;
use topostream_formats::ids::VERTICES_MAX;

/// The maximum number of edges of an assumed graph.
const EDGES_MAX: u64 = 1 << 56;

/// Options about several machines and assumed graphs.
#[derive(Args)]
#[command(next_help_heading = "Several machines")]
pub struct MachineArgs {
    /// Machines that share the run, each like this one: its rates, disks, devices and memory
    #[arg(
        long,
        global = true,
        requires = "network",
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=DEVICES_MAX as i64)
    )]
    machines: Option<u32>,
    /// The rate of a machine's link, in each direction: 10Gbit, 25Gbit/s, 1.2GB/s
    #[arg(long, global = true, requires = "machines", value_name = "RATE", value_parser = rate)]
    network: Option<u64>,
    /// Predict for a graph of this size, with the kinds of lists and pages of the store: rmat:SCALE:EDGE_FACTOR or
    /// VERTICES:EDGES
    #[arg(long, global = true, value_name = "SIZE", value_parser = graph)]
    graph: Option<GraphSize>,
    /// Bytes of pages for each edge of that graph [default: as in the store]
    #[arg(long, global = true, requires = "graph", value_name = "BYTES", value_parser = bytes_per_edge)]
    bytes_per_edge: Option<f64>,
}

impl MachineArgs {
    /// The number of machines and the rate of their network, if there are to be several.
    pub fn machines(&self) -> Option<(u32, u64)> {
        self.machines.zip(self.network).filter(|&(count, _)| count > 1)
    }

    /// What is assumed in place of properties of the store.
    pub fn assumed(&self, shards: Option<u64>) -> Assumed {
        let graph = self.graph.map(|graph| GraphSize { bytes_per_edge: self.bytes_per_edge, ..graph });
        Assumed { graph, shards }
    }
}

/// Describes a run on several machines, for people.
pub fn describe(machines: &Machines, work: &Workload) -> String {
    let supersteps: f64 = work.phases.iter().map(|phase| phase.supersteps).sum();
    let seconds = |ns: f64| format!("{:.3} s", ns / 1e9);
    let bytes = |bytes: f64| tables::bytes(bytes as u64);
    format!(
        "{} machines like this one, with {:.3} GB/s to and from each: {} (pages {}, vertices {}, merge {}, network {}); \
         each reads {} of pages, and sends and receives {} a superstep\n",
        machines.count,
        machines.network_bytes_per_s as f64 / 1e9,
        seconds(machines.total_ns),
        seconds(machines.pages_ns),
        seconds(machines.vertex_ns),
        seconds(machines.merge_ns),
        seconds(machines.network_ns),
        bytes(machines.pages_bytes),
        bytes(machines.received_bytes / supersteps.max(1.0)),
    )
}

/// Describes the graph that is assumed in place of the store's, and whether a store can have it, for people.
pub fn describe_graph(assumed: &Assumed, work: &Workload) -> String {
    if assumed.graph.is_none() {
        return String::new();
    }
    let vertices = tables::counted(work.vertices, "vertex");
    let limit = match work.vertices > VERTICES_MAX {
        true => format!("{vertices}: a store has at most {}\n", tables::count(VERTICES_MAX)),
        false => String::new(),
    };
    let (edges, bytes) = (tables::counted(work.edges, "edge"), work.pages * work.page_bytes / work.edges as f64);
    format!("graph: {vertices}, {edges}, {bytes:.2} bytes of pages an edge, in place of the store's\n{limit}")
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
}

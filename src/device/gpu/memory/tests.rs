//! Tests of the plan: what moves to main memory where device memory is short, and in which order.

use super::plan::DevicePlan;
use super::request::Request;
use crate::device::gpu::adapter::open::Caps;
use crate::device::settings::GpuSettings;
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use topostream_formats::{Direction, MemorySource, Store};
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::progress::{Cancel, Quiet};

const VERTICES: u64 = 100_000;
const PAGE: u32 = 64 << 10;

/// Sums, and shares that are read with their pages, as PageRank has them.
fn attributes() -> [Attribute; 2] {
    let attribute = |name, role| {
        let (of, merge, initial) = (AttributeType::F32, Merge::Add, Initial::Bits(0));
        Attribute { name, of, role, merge, initial, lane: None }
    };
    [attribute("share", Role::ReadOnly), attribute("sum", Role::Accumulated)]
}

fn caps() -> Caps {
    Caps {
        host_import: true,
        import_alignment: 4096,
        transfer_family: None,
        float_atomics: true,
        wide_atomics: true,
        subgroups: true,
        timestamps: false,
        pass_timestamps: false,
        binding_bytes_max: 1 << 27,
        binding_alignment: 256,
        buffer_bytes_max: 1 << 30,
        memory_bytes: None,
        storage_buffers_max: 16,
        workgroups_max: 65_535,
        loops_limited: false,
    }
}

/// A small store, for which memory is planned.
struct Planned {
    store: Store,
    _folder: tempfile::TempDir,
}

impl Planned {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph");
        let edges: Vec<(u32, u32)> = (0..VERTICES as u32).map(|vertex| (vertex, vertex / 2)).collect();
        let mut options = FormatOptions { memory_bytes: 256 << 20, ..FormatOptions::plain() };
        options.layout.page_bytes = PAGE;
        let mut source = || Ok(Box::new(MemorySource::pairs(VERTICES, &edges)) as _);
        format(&mut source, &path, &options, &Quiet, &Cancel::default()).unwrap();
        Self { store: Store::open(&path).unwrap(), _folder: folder }
    }

    /// The plan of a part with this much memory, as `change` has the request.
    fn plan(&self, memory: u64, part: &Part, caps: &Caps, change: impl Fn(&mut Request<'_>)) -> Result<DevicePlan> {
        let mut request = Request {
            device: "a device",
            algorithm: "an algorithm",
            attributes: &attributes(),
            tables: &[],
            traversal: false,
            keeps_activations: false,
            decides: true,
            pulls: false,
            visits_sets: false,
            lists_sets: false,
            counts_lists: false,
            reads_degrees: true,
            part,
            border: None,
            exchange_bytes: 0,
            lists_bytes: 0,
            next_bytes: 0,
            weights: false,
            directions: &[Direction::Out],
            store: &self.store,
            frame_bytes: PAGE.into(),
            frames: 4,
            host_import: caps.host_import,
        };
        change(&mut request);
        DevicePlan::new(&request, &GpuSettings { memory_bytes: Some(memory), ..GpuSettings::default() }, caps)
    }
}

/// The figures of a refusal.
fn refusal(plan: Result<DevicePlan>) -> (u64, String) {
    match plan {
        Err(Error::DeviceMemory { needed_bytes, parts, .. }) => (needed_bytes, parts),
        other => panic!("not about device memory: {other:?}"),
    }
}

/// What is left in main memory: whether the host runs all supersteps, degrees, and the first attribute.
fn moved(plan: &DevicePlan) -> [bool; 3] {
    assert_eq!(plan.degrees_bytes, if plan.host_degrees { 0 } else { 4 * VERTICES }, "{plan:?}");
    assert!(!plan.host_attributes[1], "sums are written at random: {plan:?}");
    [plan.loop_bytes == 0, plan.host_degrees, plan.host_attributes[0]]
}

/// For every budget, no more is moved than must be, in the order of the steps.
#[test]
fn degrees_move_before_attributes_and_after_tables_of_the_loop() {
    let (planned, part, caps) = (Planned::new(), Part::whole(VERTICES), caps());
    let plan = |memory| planned.plan(memory, &part, &caps, |_| ());
    let (least, parts) = refusal(plan(0));
    assert!(parts.contains(", directories ") && parts.contains(&format!("attributes {}, ", 4 * VERTICES)), "{parts}");
    assert_eq!(refusal(plan(least - 1)).0, least);
    let with_degrees = least + 4 * VERTICES;
    let with_all = with_degrees + 4 * VERTICES;
    // What runs supersteps without the host: the rest of a plan without pages.
    let with_loop = with_all + plan(1 << 30).unwrap().loop_bytes;
    let cases = [
        (least, [true, true, true]),
        (with_degrees - 1, [true, true, true]),
        // Attributes return first: they cost more in main memory.
        (with_degrees, [true, true, false]),
        (with_all - 1, [true, true, false]),
        (with_all, [true, false, false]),
        (with_loop - 1, [true, false, false]),
        (with_loop, [false; 3]),
        (1 << 30, [false; 3]),
    ];
    for (memory, expected) in cases {
        let found = plan(memory).unwrap();
        assert_eq!(moved(&found), expected, "{memory} bytes: {found:?}");
        assert!(found.total_bytes() <= memory, "{memory} bytes: {found:?}");
    }
    for memory in (least..with_loop).step_by(9973) {
        let found = plan(memory).unwrap();
        let [loop_out, degrees_out, attributes_out] = moved(&found);
        assert!(attributes_out <= degrees_out && degrees_out <= loop_out, "{memory} bytes: {found:?}");
        assert!(found.total_bytes() <= memory, "{memory} bytes: {found:?}");
    }
}

/// The least bytes of a vertex, besides pages, directories and working memory: those that are written.
#[test]
fn the_least_memory_of_a_vertex() {
    let (planned, part, caps) = (Planned::new(), Part::whole(VERTICES), caps());
    let of_vertex = |change: &dyn Fn(&mut Request<'_>)| {
        let least = refusal(planned.plan(0, &part, &caps, change)).0;
        let plan = planned.plan(least, &part, &caps, change).unwrap();
        let directories = 16 * u64::from(planned.store.topology(Direction::Out).unwrap().page_count());
        let graph = plan.graph_bytes - directories;
        (plan.attributes_bytes + plan.frontier_bytes + plan.levels_bytes + graph) as f64 / VERTICES as f64
    };
    assert_eq!(of_vertex(&|_| ()), 4.0);
    let search = |request: &mut Request<'_>| {
        (request.attributes, request.traversal, request.keeps_activations) = (&[], true, true);
    };
    assert!(of_vertex(&search) <= 2.1, "{}", of_vertex(&search));
}

/// Without imports, or if the driver imports larger pages than the system allocates, degrees stay. So does nothing of
/// them if no kernel reads them.
#[test]
fn degrees_stay_where_they_cannot_be_imported() {
    let (planned, part, able) = (Planned::new(), Part::whole(VERTICES), caps());
    let least = |caps: &Caps| refusal(planned.plan(0, &part, caps, |_| ()));
    let (with_import, _) = least(&able);
    let (coarse, parts) = least(&Caps { import_alignment: 64 << 10, ..able.clone() });
    assert!(parts.contains("degrees and directories"), "{parts}");
    assert_eq!(coarse, with_import + 4 * VERTICES);
    assert!(least(&Caps { host_import: false, ..able.clone() }).1.contains("degrees and directories"));
    let unread = |request: &mut Request<'_>| request.reads_degrees = false;
    assert_eq!(refusal(planned.plan(0, &part, &able, unread)).0, with_import);
    let plan = planned.plan(with_import, &part, &able, unread).unwrap();
    assert!(!plan.host_degrees && plan.host_attributes[0], "{plan:?}");
}

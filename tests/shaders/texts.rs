//! The WGSL of algorithms: allowed names and accessors, and the messages for errors.

use crate::cases::{PORTABLE, options};
use crate::declared::{algorithms, everything, messaging};
use topostream::Direction;
use topostream::device::gpu::compose::{Declared, KernelName, Resource, check, compose};
use topostream::model::algorithm::{Shader, Visit};
use topostream::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use topostream_formats::Encoding;

/// Local variables of an algorithm may have the names of the kernels' buffers and functions.
#[test]
fn names_of_kernels_are_free() {
    let text = "fn vertex_update(vertex: u32) -> vec4<f32> {
    let pages = 1u; let count = pages; let rows = count;
    return vec4<f32>(f32(rows));
}
";
    let shader = Shader::new("free.wgsl", text);
    let algorithm = Declared { name: "free", shader, ..everything() };
    let options = options(Encoding::VertexId, (Direction::Out, Visit::All), 1, PORTABLE);
    let module = compose(&algorithm, KernelName::VertexPhase, &options);
    check(&module).unwrap();
    let resources: Vec<_> = module.bindings.iter().map(|binding| binding.resource).collect();
    assert_eq!(resources, [Resource::Step, Resource::Totals]);
}

fn broken(text: &'static str, kernel: KernelName) -> String {
    let shader = Shader::new("shaders/algorithms/broken.wgsl", text);
    let algorithm = Declared { name: "broken", shader, ..everything() };
    let module = compose(&algorithm, kernel, &options(Encoding::VertexId, (Direction::Out, Visit::All), 1, PORTABLE));
    check(&module).unwrap_err().to_string()
}

#[test]
fn errors_name_the_file_and_the_line() {
    let text = "// A comment.

struct Record { unused: u32 }
fn list_open(list: List) -> Record { return Record(); }

// Another.
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    count_add(neighbour, 1u);
    count_ad(neighbour, 1u);
    return true;
}
fn list_close(record: Record, list: List) {}
fn vertex_update(vertex: u32) -> vec4<f32> {
    return vec4<f32>(0.0)
}
";
    let error = broken(text, KernelName::Lists);
    assert_eq!(error, "shaders/algorithms/broken.wgsl:9: no definition in scope for identifier: `count_ad`");
    let error = broken(text, KernelName::VertexPhase);
    assert!(error.starts_with("shaders/algorithms/broken.wgsl:15: expected"), "{error}");
    let error = broken(text, KernelName::Initialise);
    assert!(error.starts_with("shaders/algorithms/broken.wgsl:1: `vertex_initialise` is missing"), "{error}");
    let validated = "fn vertex_update(vertex: u32) -> vec4<f32> {
    let a = 1u;

    return vec4<f32>(0.0) + f32(given_load(a)) * vec3<f32>();
}
";
    let error = broken(validated, KernelName::VertexPhase);
    assert!(error.starts_with("shaders/algorithms/broken.wgsl:4: "), "{error}");
    // Edges may not write read-only attributes.
    let text = "struct Record { unused: u32 }
fn list_open(list: List) -> Record {
    given_store(0u, 1.0);
    return Record();
}
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool { return true; }
fn list_close(record: Record, list: List) {}
";
    let error = broken(text, KernelName::Segments);
    assert_eq!(error, "shaders/algorithms/broken.wgsl:3: no definition in scope for identifier: `given_store`");
}

#[test]
fn edges_have_no_out_degrees_in_split_lists() {
    let text = "struct Record { unused: u32 }
fn list_open(list: List) -> Record { return Record(degree_out(list.vertex)); }
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool { return true; }
fn list_close(record: Record, list: List) {}
";
    let shader = Shader::new("degrees.wgsl", text);
    let algorithm = Declared { name: "degrees", shader, ..messaging() };
    let mut options = options(Encoding::VertexId, (Direction::Out, Visit::All), 1, PORTABLE);
    check(&compose(&algorithm, KernelName::Lists, &options)).unwrap();
    options.sharded = true;
    let error = check(&compose(&algorithm, KernelName::Lists, &options)).unwrap_err().to_string();
    assert!(error.starts_with("degrees.wgsl:2: ") && error.contains("available for own vertices only"), "{error}");
}

/// Over lists that are grouped for shards, a module looks up out-degrees if its hooks call `list_degree`; the name in
/// comments and members of other structs does not count.
#[test]
fn degrees_of_grouped_lists_are_looked_up_on_demand() {
    let text = "// Neither list.degree nor list_degree(list), and no fn list_join.
struct Record { degree: u32 }
fn list_open(list: List) -> Record { return Record(DEGREE); }
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    count_add(neighbour, (*record).degree);
    return true;
}
fn list_close(record: Record, list: List) {}
";
    let compose = |degree: &str, kernel, sharded| {
        let text: &'static str = text.replace("DEGREE", degree).leak();
        let algorithm = Declared { name: "degrees", shader: Shader::new("degrees.wgsl", text), ..told_with_count() };
        let mut options = options(Encoding::VertexId, (Direction::In, Visit::All), 1, PORTABLE);
        (options.grouped, options.sharded, options.subgroups) = (true, sharded, true);
        compose(&algorithm, kernel, &options)
    };
    for kernel in [KernelName::Lists, KernelName::Segments, KernelName::Hubs] {
        for (degree, looks_up) in [("0u", false), ("list_degree(list)", true)] {
            let module = compose(degree, kernel, false);
            check(&module).unwrap();
            let found = module.bindings.iter().any(|binding| matches!(binding.resource, Resource::OutDegrees(_)));
            assert_eq!(found, looks_up, "{kernel}, {degree}");
        }
        check(&compose("0u", kernel, true)).unwrap();
        let error = check(&compose("list_degree(list)", kernel, true)).unwrap_err().to_string();
        assert!(error.contains("available for own vertices only"), "{error}");
        let error = check(&compose("list.degree", kernel, false)).unwrap_err().to_string();
        assert!(error.starts_with("degrees.wgsl:3: ") && error.ends_with("is list_degree(list)"), "{error}");
    }
}

/// The same declaration as `messaging`, with an attribute that edges add to.
fn told_with_count() -> Declared {
    let mut algorithm = messaging();
    let (of, role, merge) = (AttributeType::U32, Role::Accumulated, Merge::Add);
    algorithm.attributes.push(Attribute { name: "count", of, role, merge, initial: Initial::Bits(0), lane: None });
    algorithm
}

/// Constants from Rust are exact in WGSL; one without a WGSL literal is an error, not a panic.
#[test]
fn constants_keep_every_bit() {
    let text =
        "fn vertex_update(vertex: u32) -> vec4<f32> {\n    return vec4<f32>(f32(WHOLE), FLOAT, f32(SECOND), 0.0);\n}\n";
    let compose = |whole: u32, float: f32| {
        let constants = [("WHOLE", whole.into()), ("FLOAT", float.into())];
        let shader = Shader::new("numbers.wgsl", text).with_constants(constants).with_modes(["FIRST", "SECOND"]);
        let algorithm = Declared { name: "numbers", shader, ..everything() };
        let options = options(Encoding::VertexId, (Direction::Out, Visit::All), 1, PORTABLE);
        compose(&algorithm, KernelName::VertexPhase, &options)
    };
    let floats = [0.1, -1.0, 0.0, f32::MAX, f32::MIN_POSITIVE, f32::EPSILON, 16_777_216.0, f32::from_bits(0x0080_0001)];
    for (whole, float) in [0, 1, 1 << 31, u32::MAX].into_iter().cycle().zip(floats) {
        let module = compose(whole, float);
        check(&module).unwrap();
        let parsed = naga::front::wgsl::parse_str(&module.text).unwrap();
        let literal = |name: &str| {
            let mut constants = parsed.constants.iter().filter(|(_, one)| one.name.as_deref() == Some(name));
            let (_, constant) = constants.next().expect("the constant is in the module");
            match parsed.global_expressions[constant.init] {
                naga::Expression::Literal(literal) => literal,
                ref other => panic!("{name} is {other:?}"),
            }
        };
        assert_eq!(literal("WHOLE"), naga::Literal::U32(whole));
        assert_eq!(literal("SECOND"), naga::Literal::U32(1));
        assert!(matches!(literal("FLOAT"), naga::Literal::F32(found) if found.to_bits() == float.to_bits()), "{float}");
    }
    for float in [f32::NAN, f32::INFINITY] {
        assert!(check(&compose(1, float)).unwrap_err().to_string().starts_with("(generated):"));
    }
}

#[test]
fn only_traversals_without_sums_send_messages() {
    let options = options(Encoding::VertexId, (Direction::Out, Visit::All), 1, PORTABLE);
    for kernel in [KernelName::Collect, KernelName::Ship, KernelName::Apply] {
        let error = check(&compose(&everything(), kernel, &options)).unwrap_err().to_string();
        assert!(error.starts_with("everything.wgsl:1: ") && error.contains("64-bit numbers"), "{error}");
        let (pagerank, _) = algorithms().into_iter().find(|(algorithm, _)| algorithm.name == "pagerank").unwrap();
        let error = check(&compose(&pagerank, kernel, &options)).unwrap_err().to_string();
        assert!(error.contains("only traversals send messages"), "{error}");
        check(&compose(&messaging(), kernel, &options)).unwrap();
    }
}

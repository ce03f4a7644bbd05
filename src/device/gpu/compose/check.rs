//! Checks modules without a GPU, and says in which file and line one is wrong.

use super::Module;
use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use std::error::Error;

/// What is wrong with a shader, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct ShaderError {
    /// The file.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}

/// Whether a module has everything that its kernel wants of the algorithm.
///
/// # Errors
/// What is missing.
pub fn check_complete(module: &Module) -> Result<(), ShaderError> {
    let refused = module.refused.clone();
    refused.map_or(Ok(()), |(message, file)| Err(ShaderError { file, line: 1, message }))
}

/// Checks that a module is valid WGSL for a device with what its options say, and for no more. Returns what naga makes
/// of it.
///
/// # Errors
/// The first defect.
pub fn check(module: &Module) -> Result<(naga::Module, ModuleInfo), ShaderError> {
    check_complete(module)?;
    let at = |line: Option<u32>, message: String| {
        let (file, line) = module.origin(line.unwrap_or(1));
        ShaderError { file, line, message }
    };
    let parsed = naga::front::wgsl::parse_str(&module.text).map_err(|error| {
        // The first place of several may be none at all.
        let place = error.labels().map(|(span, _)| span).find(naga::Span::is_defined);
        at(place.map(|span| span.location(&module.text).line_number), with_reason(module, error.message()))
    })?;
    let info = validator(module).validate(&parsed).map_err(|error| {
        // Of an expression, the statement and the function that it stands in, the smallest.
        let spans = error.spans().filter_map(|(span, _)| span.to_range());
        let line = spans.min_by_key(ExactSizeIterator::len).map(|span| line_of(&module.text, span.start));
        at(line, with_causes(error.as_inner()))
    })?;
    Ok((parsed, info))
}

/// What the parser says, and why a name may be unknown that is an accessor's elsewhere.
fn with_reason(module: &Module, message: &str) -> String {
    if module.sharded && message.contains("`degree_out`") {
        return format!("{message}: out-degrees are held of own vertices only, and edges are anybody's");
    }
    if message.contains("accessor `degree`") {
        return format!("{message}: the length of a whole list is list_degree(list)");
    }
    message.to_owned()
}

fn line_of(text: &str, at: usize) -> u32 {
    text[..at].matches('\n').count() as u32 + 1
}

/// A validator that allows what the module's options say, and no more.
fn validator(module: &Module) -> Validator {
    let mut capabilities = Capabilities::empty();
    capabilities.set(Capabilities::SHADER_FLOAT32_ATOMIC, module.float_atomics);
    let wide = Capabilities::SHADER_INT64 | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS;
    capabilities.set(wide, module.wide_integers);
    capabilities.set(Capabilities::SUBGROUP, module.subgroups);
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    if module.subgroups {
        validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    }
    validator
}

fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        message += &format!(": {next}");
        cause = next.source();
    }
    message
}

//! Checks modules without a GPU; errors have file and line.

use super::Module;
use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use std::error::Error;

/// An error in a shader, with its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct ShaderError {
    /// The file.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The message.
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

/// Checks that a module is valid WGSL for a device with the features of its options; returns it as parsed by naga.
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
        // The first label may have no location.
        let place = error.labels().map(|(span, _)| span).find(naga::Span::is_defined);
        at(place.map(|span| span.location(&module.text).line_number), with_reason(module, error.message()))
    })?;
    let info = validator(module).validate(&parsed).map_err(|error| {
        // The smallest of the spans of the expression, its statement and its function.
        let spans = error.spans().filter_map(|(span, _)| span.to_range());
        let line = spans.min_by_key(ExactSizeIterator::len).map(|span| line_of(&module.text, span.start));
        at(line, with_causes(error.as_inner()))
    })?;
    Ok((parsed, info))
}

/// The parser's message, with the reason if the unknown name is an accessor in other modules.
fn with_reason(module: &Module, message: &str) -> String {
    if module.sharded && message.contains("`degree_out`") {
        return format!("{message}: out-degrees are available for own vertices only, but edges may have any source");
    }
    if message.contains("accessor `degree`") {
        return format!("{message}: the length of a whole list is list_degree(list)");
    }
    message.to_owned()
}

fn line_of(text: &str, at: usize) -> u32 {
    text[..at].matches('\n').count() as u32 + 1
}

/// A validator with the features of the module's options.
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

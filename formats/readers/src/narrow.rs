//! Weights of another type than the input's, and what they have lost.
//!
//! ```text
//!  a reader: F32 in its info, and the bits of f64 in its edges ─┬─▶ WithWeightType ─▶ weights of another type
//!  a store: weights of any type ────────────────────────────────┘     └─▶ Rounding
//! ```
//!
//! Readers parse numbers in double precision. What does not fit is counted here, in one place for all formats, since a
//! store that holds other numbers than its input must report it.

use topostream_formats::edge::{Edge, EdgeSource, Rounding, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};

/// Narrows the weights of a source whose type is [`WeightType::F32`]; returns others as they are.
pub(super) fn narrowed(source: Box<dyn EdgeSource>) -> Box<dyn EdgeSource> {
    match source.info().weights {
        Some(WeightType::F32) => {
            let info = source.info().clone();
            let (from, to, rounding) = (WeightType::F64, WeightType::F32, Rounding::default());
            Box::new(WithWeightType { source, info, from, to, rounding })
        }
        _ => source,
    }
}

/// Edges with weights of another type.
pub struct WithWeightType {
    source: Box<dyn EdgeSource>,
    info: SourceInfo,
    from: WeightType,
    to: WeightType,
    rounding: Rounding,
}

impl WithWeightType {
    /// Edges of a source with weights of type `to`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the source has no weights, or floating-point numbers would become integers.
    pub fn new(source: Box<dyn EdgeSource>, to: WeightType) -> Result<Self> {
        let Some(from) = source.info().weights else {
            return Err(Error::Invalid(format!("the graph has no weights that could become {}", to.name())));
        };
        if from.is_float() && !to.is_float() {
            let (from, to) = (from.name(), to.name());
            return Err(Error::Invalid(format!("weights of {from} do not become {to}: they may have fractions")));
        }
        let info = SourceInfo { weights: Some(to), ..source.info().clone() };
        Ok(Self { source, info, from, to, rounding: Rounding::default() })
    }

    /// Converts a weight's bits to the new type; an error says why the type does not hold the weight.
    #[inline]
    fn converted(&mut self, bits: u64) -> Result<u64, &'static str> {
        match (self.from, self.to) {
            (from, to) if from == to => Ok(bits),
            (WeightType::U32, WeightType::U64) => Ok(bits),
            (WeightType::F32, _) => Ok(f64::from(f32::from_bits(bits as u32)).to_bits()),
            (WeightType::F64, _) => match f64::from_bits(bits) {
                value if value.is_finite() && (value as f32).is_infinite() => Err("single precision is too small"),
                _ => Ok(self.rounding.narrow(bits)),
            },
            (_, WeightType::U32) if bits > u32::MAX.into() => Err("an integer of 32 bits is too small"),
            (_, WeightType::U32 | WeightType::U64) => Ok(bits),
            (_, WeightType::F32) => {
                let narrow = bits as f32;
                self.rounding.count(bits as f64, narrow as u128 == bits.into());
                Ok(narrow.to_bits().into())
            }
            (_, WeightType::F64) if bits as f64 as u128 != bits.into() => Err("double precision would round it"),
            (_, WeightType::F64) => Ok((bits as f64).to_bits()),
        }
    }
}

impl EdgeSource for WithWeightType {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        self.source.read(chunk)?;
        for edge in chunk {
            edge.weight = self.converted(edge.weight).map_err(|why| {
                let (weight, to) = (self.from.text(edge.weight), self.to.name());
                let Edge { source, dest, .. } = edge;
                Error::Invalid(format!("the weight {weight} of the edge from {source} to {dest} as {to}: {why}"))
            })?;
        }
        Ok(())
    }

    fn extra_vertices(&mut self, ids: &mut Vec<u64>) -> Result<()> {
        self.source.extra_vertices(ids)
    }

    fn declared_vertices(&mut self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        self.source.declared_vertices(take)
    }

    fn place(&self) -> String {
        self.source.place()
    }

    fn place_of(&self, index: usize, edge: &Edge) -> String {
        self.source.place_of(index, edge)
    }

    fn note(&self) -> Option<String> {
        self.source.note()
    }

    fn claimed_edges(&self) -> Option<u64> {
        self.source.claimed_edges()
    }

    fn rounding(&self) -> Rounding {
        self.source.rounding().and(self.rounding)
    }

    fn is_read_once(&self) -> bool {
        self.source.is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    fn memory_bytes(&self) -> u64 {
        self.source.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topostream_formats::edge::{IdSpace, MemorySource};

    /// The weight after conversion, and whether it was counted as rounded.
    fn converted(bits: u64, from: WeightType, to: WeightType) -> Result<(u64, bool)> {
        let (name, ids) = ("memory".into(), IdSpace::Named);
        let weights = Some(from);
        let info = SourceInfo { name, ids, mirror: false, directed: true, weights, edges: None, bytes: None };
        let source = MemorySource::new(info, vec![Edge { source: 3, dest: 4, weight: bits }]);
        let (mut source, mut chunk) = (WithWeightType::new(Box::new(source), to)?, Vec::new());
        assert_eq!(source.info().weights, Some(to));
        source.read(&mut chunk)?;
        Ok((chunk[0].weight, source.rounding().rounded == 1))
    }

    #[test]
    fn weights_become_those_of_another_type_or_errors() {
        use WeightType::{F32, F64, U32, U64};
        let same = |bits, from, to, expected: u64, is_rounded| {
            assert_eq!(converted(bits, from, to).unwrap(), (expected, is_rounded), "{bits} of {from:?} as {to:?}");
        };
        same(7, U32, U64, 7, false);
        same(7, U64, U32, 7, false);
        same((1 << 24) + 1, U32, F32, 16_777_216f32.to_bits().into(), true);
        same(1 << 24, U32, F32, 16_777_216f32.to_bits().into(), false);
        same(1 << 63, U64, F32, 9_223_372_036_854_775_808f32.to_bits().into(), false);
        same(1 << 63, U64, F64, 9_223_372_036_854_775_808f64.to_bits(), false);
        same(0.1f32.to_bits().into(), F32, F64, f64::from(0.1f32).to_bits(), false);
        same(0.1f64.to_bits(), F64, F32, 0.1f32.to_bits().into(), true);
        same((-0.5f64).to_bits(), F64, F32, (-0.5f32).to_bits().into(), false);
        same(0.1f64.to_bits(), F64, F64, 0.1f64.to_bits(), false);
        for (bits, from, to) in [
            (1 << 32, U64, U32),
            ((1 << 53) + 1, U64, F64),
            (u64::MAX, U64, F64),
            (1e39f64.to_bits(), F64, F32),
            (0, F64, U64),
            (0, F32, U32),
        ] {
            assert!(converted(bits, from, to).is_err(), "{bits} of {from:?} as {to:?}");
        }
    }
}

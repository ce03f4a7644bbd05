//! The form that a store is written in.

use crate::edge::WeightType;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::manifest::packs_weights;
use crate::page::{Capacity, PAGE_BYTES_DEFAULT, PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use std::path::PathBuf;

/// The format and the location of a store's pages.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Bytes of a page: a power of two from 64 KiB to 64 MiB.
    pub page_bytes: u32,
    /// The encoding of neighbours.
    pub encoding: Encoding,
    /// The type of the weights, if they are stored.
    pub weights: Option<WeightType>,
    /// The folders of the stripes; by default only `.`, the store's own.
    pub stripes: Vec<PathBuf>,
    /// Whether a store that is there is replaced, once the new one is complete.
    pub overwrite: bool,
}

impl Default for Layout {
    fn default() -> Self {
        let stripes = vec![PathBuf::from(".")];
        Self { page_bytes: PAGE_BYTES_DEFAULT, encoding: Encoding::VertexId, weights: None, stripes, overwrite: false }
    }
}

impl Layout {
    /// The capacity of a page.
    pub fn capacity(&self) -> Capacity {
        Capacity::new(self.page_bytes, self.encoding)
    }

    /// Whether weights are packed.
    pub fn packs_weights(&self) -> bool {
        packs_weights(self.encoding, self.weights)
    }

    /// Checks page size, encoding and stripes.
    ///
    /// # Errors
    /// [`Error::Invalid`] saying what is allowed.
    pub fn validate(&self) -> Result<()> {
        self.encoding.validate()?;
        if let Encoding::RecordId { .. } = self.encoding {
            return Err(Error::Invalid(
                "the encoding record-id is read, but no longer written: choose packed or vertex-id".into(),
            ));
        }
        if !self.page_bytes.is_power_of_two() || !(PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&self.page_bytes) {
            let found = self.page_bytes;
            return Err(Error::Invalid(format!("page size {found}: must be a power of two from 64 KiB to 64 MiB")));
        }
        if self.stripes.is_empty() || self.stripes.len() > 256 {
            return Err(Error::Invalid(format!("{} stripes: there must be 1 to 256", self.stripes.len())));
        }
        if let Some(stripe) = self.stripes.iter().find(|stripe| stripe.to_str().is_none()) {
            return Err(Error::Invalid(format!("stripe {}: its name must be UTF-8", stripe.display())));
        }
        Ok(())
    }
}

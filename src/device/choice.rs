//! The choice of a device.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// The choice of a device: the argument of `--device`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A hardware GPU if there is one, otherwise the CPU.
    #[default]
    Auto,
    /// The CPU, which needs no driver.
    Cpu,
    /// A hardware GPU, or an error.
    Gpu,
    /// Every hardware GPU.
    All,
    /// The adapter whose name contains this, ignoring case.
    Named(String),
    /// The adapter with this number, as `topostream devices` prints it.
    Index(usize),
}

impl DeviceChoice {
    /// Checks a choice in a program that was built without GPU support.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if it requires a GPU.
    #[doc(hidden)]
    pub fn without_gpu_support(&self) -> Result<(), Error> {
        match self {
            Self::Auto | Self::Cpu => Ok(()),
            Self::Gpu | Self::All | Self::Named(_) | Self::Index(_) => Err(Error::NoDevice(format!(
                "device {self}: this program was built without GPU support; use `--device cpu`, or build it with \
                 `--features gpu`"
            ))),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = Error;

    /// Parses `auto`, `cpu`, `gpu`, `all`, a number, or a part of a name.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an empty text.
    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        Ok(match text.to_lowercase().as_str() {
            "" => {
                return Err(Error::Parameter(
                    "expected auto, cpu, gpu, all, a device's number, or a part of its name".into(),
                ));
            }
            "auto" => Self::Auto,
            "cpu" => Self::Cpu,
            "gpu" => Self::Gpu,
            "all" => Self::All,
            _ => text.parse().map_or_else(|_| Self::Named(text.into()), Self::Index),
        })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Gpu => f.write_str("gpu"),
            Self::All => f.write_str("all"),
            Self::Named(name) => f.write_str(name),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_parsed_and_printed() {
        let cases = [
            ("auto", DeviceChoice::Auto),
            ("AUTO", DeviceChoice::Auto),
            (" cpu ", DeviceChoice::Cpu),
            ("Gpu", DeviceChoice::Gpu),
            ("all", DeviceChoice::All),
            ("0", DeviceChoice::Index(0)),
            ("12", DeviceChoice::Index(12)),
            ("H200", DeviceChoice::Named("H200".into())),
            ("-1", DeviceChoice::Named("-1".into())),
            ("Radeon RX 7900", DeviceChoice::Named("Radeon RX 7900".into())),
        ];
        for (text, choice) in cases {
            assert_eq!(text.parse::<DeviceChoice>().unwrap(), choice, "{text:?}");
            assert_eq!(choice.to_string().parse::<DeviceChoice>().unwrap(), choice, "{text:?}");
        }
        for text in ["", "  "] {
            let error = text.parse::<DeviceChoice>().unwrap_err();
            assert!(error.to_string().contains("auto, cpu, gpu"), "{error}");
        }
    }

    #[test]
    fn a_program_without_gpus_says_so() {
        for choice in [DeviceChoice::Auto, DeviceChoice::Cpu] {
            choice.without_gpu_support().unwrap();
        }
        for choice in [DeviceChoice::Gpu, DeviceChoice::Named("h200".into()), DeviceChoice::Index(3)] {
            let text = choice.without_gpu_support().unwrap_err().to_string();
            assert!(text.contains(&choice.to_string()) && text.contains("without GPU support"), "{text}");
        }
    }
}

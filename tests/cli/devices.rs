//! `topostream devices`: lists devices on any machine.

use crate::program::{Done, Folder};

/// Drivers may complain on stderr if the session has no runtime directory.
fn devices(folder: &Folder, options: &str, environment: &[(&str, &str)]) -> Done {
    let line = format!("devices {options}");
    let mut command = folder.command(&line);
    command.env("XDG_RUNTIME_DIR", folder.path("."));
    for (name, value) in environment {
        command.env(name, value);
    }
    Done::of(&line, command.output().unwrap()).succeeds()
}

/// Drivers look for a display, which servers do not have.
#[test]
fn nothing_is_said_of_a_session_without_a_display() {
    let folder = Folder::new();
    for line in ["devices", "devices --json"] {
        let mut command = folder.command(line);
        for name in ["XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"] {
            command.env_remove(name);
        }
        Done::of(line, command.output().unwrap()).succeeds();
    }
}

#[test]
fn the_cpu_is_always_listed_and_the_choice_of_auto_shown() {
    let folder = Folder::new();
    let done = devices(&folder, "", &[]).prints(&["device", "cpu", "processor", "auto selects"]);
    let json = devices(&folder, "--json", &[]).json();
    assert!(json["cpu"]["threads"].as_u64().unwrap() > 0);
    assert_eq!(json["gpu_support"].as_bool(), Some(cfg!(feature = "gpu")));
    let auto = json["auto"].as_str().unwrap();
    assert!(
        done.stdout.contains(&format!("auto selects {}", if auto == "cpu" { "cpu" } else { "device" })),
        "{}",
        done.stdout
    );
}

#[test]
#[cfg(feature = "gpu")]
fn adapters_are_listed_with_limits_and_fast_paths() {
    let folder = Folder::new();
    let text = devices(&folder, "", &[]).stdout;
    let json = devices(&folder, "--json", &[]).json();
    for (at, adapter) in json["adapters"].as_array().unwrap().iter().enumerate() {
        assert_eq!(adapter["index"], at);
        assert!(text.contains(adapter["name"].as_str().unwrap()), "{text}");
        assert!(adapter["limits"]["storage_binding_bytes"].as_u64().unwrap() >= 1 << 27);
        for path in adapter["fast_paths"].as_array().unwrap() {
            assert!(path["available"].is_boolean());
            assert!(text.contains(path["name"].as_str().unwrap()) && text.contains(path["instead"].as_str().unwrap()));
        }
        for name in ["host memory import", "transfer queue", "f32 atomics", "64-bit atomics", "subgroups", "timestamps"]
        {
            assert!(adapter["fast_paths"].as_array().unwrap().iter().any(|path| path["name"] == name), "{name}");
        }
        let software = adapter["kind"] == "software";
        assert!(!software || json["auto"].as_str() != Some(at.to_string().as_str()), "auto never takes software");
    }
}

/// A missing driver is not an error: the text says what to do.
#[test]
#[cfg(all(feature = "gpu", target_os = "linux"))]
fn without_drivers_the_output_says_what_to_do() {
    let folder = Folder::new();
    let nowhere = [("VK_ICD_FILENAMES", "/nowhere.json"), ("VK_DRIVER_FILES", "/nowhere.json")];
    devices(&folder, "", &nowhere).prints(&["cpu", "auto selects cpu", "libvulkan1", "--device cpu"]);
    let json = devices(&folder, "--json", &nowhere).json();
    assert_eq!((json["auto"].as_str(), json["adapters"].as_array().map(Vec::len)), (Some("cpu"), Some(0)));
}

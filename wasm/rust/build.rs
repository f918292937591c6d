//! Compiles `weft.c` by the compiler that `CC_<target>` or `CC` names; without
//! these by `clang` for WebAssembly, and by `cc` elsewhere. `AR` works likewise.
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The value of a variable for this target, of the general one, or `otherwise`.
fn program(name: &str, target: &str, otherwise: &str) -> String {
    let of_target = format!("{}_{}", name, target.replace('-', "_"));
    println!("cargo:rerun-if-env-changed={}", of_target);
    println!("cargo:rerun-if-env-changed={}", name);
    env::var(of_target)
        .or_else(|_| env::var(name))
        .unwrap_or_else(|_| otherwise.to_string())
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{:?}: {}", command, status),
        Err(error) => panic!("{:?}: {}", command, error),
    }
}

fn main() {
    let target = env::var("TARGET").unwrap();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let headers = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("..");
    let object = out.join("weft.o");
    let archive = out.join("libweft_c.a");
    let wasm = target.starts_with("wasm");

    let mut compiler = Command::new(program("CC", &target, if wasm { "clang" } else { "cc" }));
    compiler.args(["-std=c11", "-O2", "-ffunction-sections", "-c"]);
    if wasm {
        compiler.arg(format!("--target={}", target));
        compiler.args(["-matomics", "-mbulk-memory"]);
    } else {
        compiler.arg("-fPIC");
    }
    compiler.arg("-I").arg(&headers).arg("weft.c");
    run(compiler.arg("-o").arg(&object));
    // rustc makes the index of symbols itself.
    run(Command::new(program("AR", &target, "ar")).arg("crS").arg(&archive).arg(&object));

    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=weft_c");
    println!("cargo:rerun-if-changed=weft.c");
    println!("cargo:rerun-if-changed={}", headers.join("weft").display());
}

// Gives every composed module to the compilers of browsers and of Windows, which are no libraries of Rust.
//
//     node tools/shaders/check.mjs FOLDER [--every N] [wgsl] [cs_6_0] [cs_6_6] [cs_5_1]
//
// FOLDER is the one that TOPOSTREAM_WRITE_SHADERS named when `cargo test --test shaders` ran. Each of its folders has
// its compiler: wgsl Tint, cs_6_0 and cs_6_6 DXC, cs_5_1 FXC, which is not among the defaults. DXC and FXC are given
// every Nth file.
//
// Tint is part of npm's `webgpu` (npm ci --ignore-scripts --prefix tools/shaders) and needs no driver. DXC and FXC are
// the DLLs beside it, which wine and a MinGW compiler run (Debian's wine, wine64 and gcc-mingw-w64-x86-64-win32). A
// compiler that cannot run is skipped, or an error with TOPOSTREAM_SHADER_COMPILERS=required.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const packages = join(here, "node_modules/webgpu");
const required = process.env.TOPOSTREAM_SHADER_COMPILERS === "required";

// What a compiler cannot compile by a defect of its own: FXC ends with an internal error.
const known = { cs_5_1: ["pagerank-merge"] };

class Absent extends Error {}

const files = (folder) =>
    readdirSync(folder)
        .sort()
        .map((name) => join(folder, name));

// Refused files, each with the compiler's words.
async function byTint(folder) {
    if (!existsSync(packages)) throw new Absent("run `npm ci --ignore-scripts --prefix tools/shaders`");
    const { create } = await import(join(packages, "index.js"));
    // Kept while there are devices: freeing it frees what they use.
    globalThis.gpu = create(["backend=null"]);
    const adapter = await globalThis.gpu.requestAdapter();
    const device = await adapter.requestDevice({ requiredFeatures: [...adapter.features] });
    const refused = [];
    for (const file of files(folder)) {
        device.pushErrorScope("validation");
        // An `if` on a constant, which was decided when the module was composed, leaves statements behind a return.
        const code = `diagnostic(off, chromium.unreachable_code); ${readFileSync(file, "utf8")}`;
        const module = device.createShaderModule({ code });
        const { messages } = await module.getCompilationInfo();
        const failure = await device.popErrorScope();
        const errors = messages.filter((one) => one.type === "error");
        const words = errors.map((one) => `    line ${one.lineNum}: ${one.message}\n`).join("");
        if (failure || words) refused.push(`${file}\n${words || `    ${failure.message}\n`}`);
    }
    const { version } = JSON.parse(readFileSync(join(packages, "package.json"), "utf8"));
    return { compiler: `Tint (webgpu ${version})`, refused, count: files(folder).length };
}

const inPath = (name) => spawnSync("which", [name]).status === 0;
const work = resolve(process.env.CARGO_TARGET_DIR ?? join(here, "../../target"), "shader-compilers");
// Neither .NET nor a browser is wanted, and wine tells of what it lacks.
const environment = {
    ...process.env,
    WINEPREFIX: join(work, "wine"),
    WINEDEBUG: "-all",
    WINEDLLOVERRIDES: "mscoree,mshtml=",
};

// The program that calls the DLLs, compiled.
let made;
function program() {
    const missing = ["wine", "x86_64-w64-mingw32-gcc"].filter((name) => !inPath(name));
    if (missing.length > 0) throw new Absent(`there is no ${missing.join(" and no ")}`);
    if (!existsSync(packages)) throw new Absent("run `npm ci --ignore-scripts --prefix tools/shaders`");
    mkdirSync(work, { recursive: true });
    const file = join(work, "d3d.exe");
    execFileSync("x86_64-w64-mingw32-gcc", ["-O2", "-Wall", "-Wextra", "-Werror", "-o", file, join(here, "d3d.c")]);
    // The first start makes the prefix.
    execFileSync("wine", ["wineboot", "-u"], { env: environment, stdio: "ignore" });
    return file;
}

// The program's lines for some files.
function compiled(program, kind, dll, target, names) {
    return new Promise((done, fail) => {
        const stdio = ["pipe", "pipe", "inherit"];
        const child = spawn("wine", [program, kind, dll, target], { env: environment, stdio });
        let text = "";
        child.stdout.on("data", (more) => (text += more));
        child.on("error", fail);
        child.on("close", (code) => (code === 0 ? done(text) : fail(new Error(`${kind}: ends with ${code}`))));
        child.stdin.on("error", () => {}).end(names.map((name) => `${name}\n`).join(""));
    });
}

async function byMicrosoft(folder, target, every) {
    const kind = target === "cs_5_1" ? "fxc" : "dxc";
    const dll = join(packages, "dist/win32-x64", kind === "fxc" ? "d3dcompiler_47.dll" : "dxcompiler.dll");
    const caller = (made ??= program());
    const names = files(folder).filter((_, number) => number % every === 0);
    const shares = Array.from({ length: availableParallelism() }, (_, at) =>
        names.filter((_, number) => number % availableParallelism() === at),
    );
    const texts = await Promise.all(shares.map((share) => compiled(caller, kind, `Z:${dll}`, target, share)));
    const blocks = texts.flatMap((text) => text.split(/^(?=ok |refused |version )/m));
    const beginning = (word) => blocks.filter((block) => block.startsWith(`${word} `));
    const of = (word) => beginning(word).map((block) => block.slice(word.length + 1));
    const refused = of("refused");
    const answered = of("ok").length + refused.length;
    if (answered !== names.length) throw new Error(`${kind} answers for ${answered} of ${names.length} files`);
    return { compiler: `${of("version")[0].trim()}, ${target}`, refused, count: names.length };
}

const options = { every: { type: "string", default: "1" } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [folder, ...asked] = positionals;
if (!folder || !existsSync(folder) || !(Number(values.every) >= 1)) {
    console.error("usage: check.mjs FOLDER [--every N] [KIND…], where FOLDER is of TOPOSTREAM_WRITE_SHADERS");
    process.exit(2);
}
let failed = 0;
for (const kind of asked.length > 0 ? asked : ["wgsl", "cs_6_0", "cs_6_6"]) {
    const began = performance.now();
    const of = resolve(folder, kind);
    try {
        const answer = kind === "wgsl" ? byTint(of) : byMicrosoft(of, kind, Number(values.every));
        const { compiler, refused: all, count } = await answer;
        const isKnown = (one) => (known[kind] ?? []).some((name) => one.split("\n")[0].includes(name));
        const refused = all.filter((one) => !isKnown(one));
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        refused.slice(0, 20).forEach((one) => console.error(`refused: ${one.trimEnd()}`));
        console.log(`${compiler}: ${count} modules, ${all.length} refused, ${seconds} s`);
        failed += refused.length;
    } catch (error) {
        if (!(error instanceof Absent) || required) throw error;
        console.error(`\nSKIPPED: ${kind} was not compiled: ${error.message}\n`);
    }
}
// The null device keeps the process running.
process.exit(failed > 0 ? 1 : 0);

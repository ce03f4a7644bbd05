// Compiles HLSL by Microsoft's compilers, called as wgpu-hal 30 calls them (src/dx12/shader_compilation.rs there).
//
//     d3d.exe dxc|fxc DLL TARGET < names of files, one a line
//
// Prints a line for each file: "ok NAME BYTES MILLISECONDS", or "refused NAME" with the compiler's lines indented. Like
// wgpu, it takes any message of DXC for a refusal. Interfaces are written out, since MinGW has no header of DXC.
#define COBJMACROS
#include <windows.h>
#include <d3dcompiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { const void *begin; SIZE_T bytes; UINT encoding; } Source;
typedef struct Compiler Compiler;
typedef struct Result Result;
typedef struct Version Version;
typedef struct {
    void *query, *retain;
    ULONG(STDMETHODCALLTYPE *release)(Compiler *);
    HRESULT(STDMETHODCALLTYPE *compile)(Compiler *, const Source *, LPCWSTR *, UINT, void *, const GUID *, Result **);
} CompilerCalls;
typedef struct {
    void *query, *retain;
    ULONG(STDMETHODCALLTYPE *release)(Result *);
    HRESULT(STDMETHODCALLTYPE *status)(Result *, HRESULT *);
    HRESULT(STDMETHODCALLTYPE *output)(Result *, ID3DBlob **);
    HRESULT(STDMETHODCALLTYPE *errors)(Result *, ID3DBlob **);
} ResultCalls;
typedef struct {
    void *query, *retain, *release;
    HRESULT(STDMETHODCALLTYPE *get)(Version *, UINT *, UINT *);
} VersionCalls;
struct Compiler { const CompilerCalls *call; };
struct Result { const ResultCalls *call; };
struct Version { const VersionCalls *call; };
typedef HRESULT(STDMETHODCALLTYPE *Create)(const GUID *, const GUID *, void **);
typedef HRESULT(STDMETHODCALLTYPE *Query)(void *, const GUID *, void **);

static const GUID DXC = {0x73e22d93, 0xe6ce, 0x47f3, {0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1, 0xb0}};
static const GUID COMPILER = {0x228b4687, 0x5a6a, 0x4730, {0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f, 0x54}};
static const GUID RESULT = {0x58346cda, 0xdde7, 0x4497, {0x94, 0x61, 0x6f, 0x87, 0xaf, 0x5e, 0x06, 0x59}};
static const GUID VERSION = {0xb04f5b50, 0x2059, 0x4f12, {0xa8, 0xff, 0xa1, 0xe0, 0xcd, 0xe1, 0xcc, 0x7e}};
static const UINT UTF8 = 65001;

static Compiler *compiler;
static pD3DCompile fxc;
static LPCSTR target;
static WCHAR wide_target[16];

// The object, or none with the messages.
static ID3DBlob *by_dxc(const char *text, size_t bytes, ID3DBlob **messages) {
    LPCWSTR arguments[] = {L"-E", L"main", L"-T", wide_target, L"-HV", L"2018", L"-no-warnings", L"-Ges"};
    Source source = {text, bytes, UTF8};
    Result *result = NULL;
    ID3DBlob *object = NULL;
    HRESULT status = compiler->call->compile(compiler, &source, arguments, 8, NULL, &RESULT, &result);
    if (FAILED(status)) {
        return NULL;
    }
    result->call->status(result, &status);
    result->call->errors(result, messages);
    if (SUCCEEDED(status)) {
        result->call->output(result, &object);
    }
    result->call->release(result);
    return object;
}

static ID3DBlob *by_fxc(const char *text, size_t bytes, ID3DBlob **messages) {
    ID3DBlob *object = NULL;
    HRESULT status =
        fxc(text, bytes, NULL, NULL, NULL, "main", target, D3DCOMPILE_ENABLE_STRICTNESS, 0, &object, messages);
    return FAILED(status) ? NULL : object;
}

static void say(const char *text, size_t bytes) {
    printf("    ");
    for (size_t at = 0; at < bytes && text[at]; at++) {
        putchar(text[at]);
        if (text[at] == '\n' && at + 1 < bytes && text[at + 1]) {
            printf("    ");
        }
    }
    printf("\n");
}

static void compile(const char *name) {
    FILE *file = fopen(name, "rb");
    if (!file) {
        printf("refused %s\n    the file cannot be read\n", name);
        return;
    }
    fseek(file, 0, SEEK_END);
    size_t bytes = ftell(file);
    rewind(file);
    char *text = malloc(bytes + 1);
    bytes = fread(text, 1, bytes, file);
    fclose(file);
    DWORD began = GetTickCount();
    ID3DBlob *messages = NULL;
    ID3DBlob *object = fxc ? by_fxc(text, bytes, &messages) : by_dxc(text, bytes, &messages);
    // FXC warns about much that is right, such as loops that it unrolls; wgpu takes its word by the status.
    int silent = fxc || !messages || ID3D10Blob_GetBufferSize(messages) <= 1;
    if (object && silent) {
        DWORD took = GetTickCount() - began;
        printf("ok %s %u %lu\n", name, (unsigned)ID3D10Blob_GetBufferSize(object), (unsigned long)took);
    } else {
        printf("refused %s\n", name);
        if (messages) {
            say(ID3D10Blob_GetBufferPointer(messages), ID3D10Blob_GetBufferSize(messages));
        }
    }
    if (object) {
        ID3D10Blob_Release(object);
    }
    if (messages) {
        ID3D10Blob_Release(messages);
    }
    free(text);
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: d3d.exe dxc|fxc DLL TARGET\n");
        return 2;
    }
    target = arguments[3];
    MultiByteToWideChar(CP_UTF8, 0, target, -1, wide_target, 16);
    HMODULE library = LoadLibraryA(arguments[2]);
    if (!library) {
        fprintf(stderr, "%s cannot be loaded: error %lu\n", arguments[2], (unsigned long)GetLastError());
        return 2;
    }
    if (strcmp(arguments[1], "fxc") == 0) {
        fxc = (pD3DCompile)(void *)GetProcAddress(library, "D3DCompile");
        printf("version d3dcompiler_47\n");
    } else {
        Create create = (Create)(void *)GetProcAddress(library, "DxcCreateInstance");
        if (!create || FAILED(create(&DXC, &COMPILER, (void **)&compiler))) {
            compiler = NULL;
        } else {
            Version *version = NULL;
            UINT major = 0, minor = 0;
            if (SUCCEEDED(((Query)compiler->call->query)(compiler, &VERSION, (void **)&version))) {
                version->call->get(version, &major, &minor);
            }
            printf("version DXC %u.%u\n", major, minor);
        }
    }
    if (!fxc && !compiler) {
        fprintf(stderr, "%s is not a compiler\n", arguments[2]);
        return 2;
    }
    char name[4096];
    while (fgets(name, sizeof name, stdin)) {
        name[strcspn(name, "\r\n")] = 0;
        compile(name);
        fflush(stdout);
    }
    return 0;
}

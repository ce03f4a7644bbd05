// The one function of Windows' bcryptprimitives.dll that Rust's standard library calls, for wine before version 9,
// which has no such library.
#include <windows.h>
#include <ntsecapi.h>

BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count)
{
    return RtlGenRandom(bytes, (ULONG)count);
}

// If it is imported first, a file's tests run as if Atomics.waitAsync were
// missing.
delete (Atomics as { waitAsync?: unknown }).waitAsync;

// Imported first, makes a file's tests run as where Atomics.waitAsync is
// missing.
delete (Atomics as { waitAsync?: unknown }).waitAsync;

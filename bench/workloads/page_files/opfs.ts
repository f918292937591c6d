/**
 * The part of a browser's own file system that is used here.
 *
 * @module
 */

/** A file of a page. */
export interface PageFile {
  getFile(): Promise<Blob>;
  createWritable(options: { keepExistingData: boolean }): Promise<{
    write(piece: unknown): Promise<void>;
    close(): Promise<void>;
  }>;
  /** Only in a worker. */
  createSyncAccessHandle(): Promise<{
    read(into: Uint8Array, at: { at: number }): number;
    write(from: Uint8Array, at: { at: number }): number;
    close(): void;
  }>;
}

/** Opens a file of this page, new if there is none. */
export async function open(name: string): Promise<PageFile> {
  const { storage } = navigator as unknown as {
    storage: {
      getDirectory(): Promise<{
        getFileHandle(
          name: string,
          options: { create: boolean },
        ): Promise<PageFile>;
      }>;
    };
  };
  const folder = await storage.getDirectory();
  return await folder.getFileHandle(name, { create: true });
}

/** The bytes of a piece of a file. */
export const PIECE = 64;

/** The steps, in the first word of a request; the second is the offset. */
export const WRITE = 0, READ = 1;

/** The byte of which piece `k` consists. */
export const byteOf = (k: number): number => 97 + k % 26;

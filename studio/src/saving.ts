// What leaves the page: pictures, films, files, links.
import { make } from "./dom.ts";

export function download(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function savePicture(canvas: HTMLCanvasElement, name: string): void {
  canvas.toBlob((blob) => {
    if (blob) download(`${name}.png`, blob);
  });
}

// A film of the canvas, from when it begins until it is stopped. Null if the browser cannot record.
export class Film {
  private readonly parts: Blob[] = [];
  private readonly recorder: MediaRecorder;

  private constructor(canvas: HTMLCanvasElement, type: string) {
    this.recorder = new MediaRecorder(canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: 8e6 });
    this.recorder.addEventListener("dataavailable", (event) => this.parts.push(event.data));
    this.recorder.start(500);
  }

  static begin(canvas: HTMLCanvasElement): Film | null {
    const types = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];
    const type = typeof MediaRecorder === "function" ? types.find((t) => MediaRecorder.isTypeSupported(t)) : undefined;
    return type ? new Film(canvas, type) : null;
  }

  end(): Promise<Blob> {
    return new Promise((resolve) => {
      this.recorder.addEventListener("stop", () => resolve(new Blob(this.parts, { type: this.recorder.mimeType })));
      this.recorder.stop();
    });
  }
}

// Bytes as text for the fragment of an address, and back.
export async function pack(bytes: Uint8Array): Promise<string> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function unpack(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

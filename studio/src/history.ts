// Snapshots of the past, as many as fit into memory.
const BYTES = 96 * 2 ** 20;
const SECONDS = 1 / 20;

export interface Snapshot {
  time: number;
  bytes: Uint8Array;
}

export class History {
  private snapshots: Snapshot[] = [];
  private now = -1; // the snapshot we went back to; -1: the present

  // Snapshots of another world do not fit any more: begin again with the present.
  begin(present: Snapshot): void {
    this.snapshots = [present];
    this.now = -1;
  }

  get first(): number {
    return this.snapshots[0].time;
  }

  get last(): number {
    return this.snapshots[this.snapshots.length - 1].time;
  }

  // All snapshots up to the present.
  get all(): readonly Snapshot[] {
    return this.now < 0 ? this.snapshots : this.snapshots.slice(0, this.now + 1);
  }

  isDue(time: number): boolean {
    return time >= this.last + SECONDS - 1e-9;
  }

  add(snapshot: Snapshot): void {
    this.snapshots.push(snapshot);
    const capacity = Math.max(8, Math.floor(BYTES / snapshot.bytes.length));
    if (this.snapshots.length > capacity) this.snapshots.splice(0, this.snapshots.length - capacity);
  }

  // Goes to the snapshot nearest to a share of the whole time; the present is kept, to come back to.
  seek(share: number, present: () => Snapshot): Snapshot {
    if (this.now < 0) this.snapshots.push(present());
    const wanted = this.first + share * (this.last - this.first);
    let best = 0;
    this.snapshots.forEach((s, i) => {
      if (Math.abs(s.time - wanted) < Math.abs(this.snapshots[best].time - wanted)) best = i;
    });
    this.now = best;
    return this.snapshots[best];
  }

  // From a past state the future is made again.
  branch(): void {
    if (this.now < 0) return;
    this.snapshots.length = this.now + 1;
    this.now = -1;
  }
}

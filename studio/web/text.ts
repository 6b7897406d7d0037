// How values are written for people.

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

// plain makes characters visible that change how others are read.
export const plain = (s: string) => s.replace(hidden, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

// line is plain on one line.
export const line = (s: string, most = 200) => {
  const flat = plain(s.replace(/\s+/g, " "));
  return flat.length > most ? flat.slice(0, most) + "\u2026" : flat;
};

// span writes milliseconds.
export function span(ms: number): string {
  if (ms < 0.0005) return "0";
  if (ms < 1) return Math.round(ms * 1000) + " \u00b5s";
  if (ms < 1000) return Math.round(ms) + " ms";
  if (ms < 60_000) return (ms / 1000).toFixed(1) + " s";
  const s = Math.round(ms / 1000);
  if (s < 3600) return Math.floor(s / 60) + " m " + (s % 60) + " s";
  if (s < 86_400) return Math.floor(s / 3600) + " h " + (Math.floor(s / 60) % 60) + " m";
  return Math.floor(s / 86_400) + " d " + (Math.floor(s / 3600) % 24) + " h";
}

export const count = (n: number) => n.toLocaleString("en-US");
export const counted = (n: number, what: string) => count(n) + " " + what + (n === 1 ? "" : "s");
export const dollars = (s: string) => "$" + (s || "0");

export function bytes(n: number): string {
  if (n < 1000) return n + " B";
  if (n < 1e6) return (n / 1e3).toFixed(1) + " kB";
  return (n / 1e6).toFixed(1) + " MB";
}

// clock is the time of today, and the day of others.
export function clock(iso: string): string {
  const t = new Date(iso);
  if (isNaN(+t)) return "";
  const day = t.toDateString() === new Date().toDateString();
  return day ? t.toTimeString().slice(0, 5) : t.toISOString().slice(5, 10);
}

export const shortID = (id: string) => (id.startsWith("temporal:") ? line(id.slice(9), 40) : id.slice(id.lastIndexOf("-") + 1).slice(0, 12)); // others have chosen ids on Temporal

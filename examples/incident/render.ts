interface Row {
  service: string;
  message: string;
  count: number;
  score: number;
  owner: string | null;
  ticket: string | null;
}

/** Renders a report in Markdown. */
export default function render(args: { title: string; rows: Row[]; checks: string[] }): string {
  const rows = args.rows.map(
    (r) => `| ${r.score} | ${r.service} | ${r.message} | ${r.count} | ${r.owner ?? "nobody"} | ${r.ticket ?? "new"} |`,
  );
  return [
    `# ${args.title}`,
    "",
    "| score | service | message | times | owner | ticket |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
    ...args.checks.map((c) => `- ${c}`),
    "",
  ].join("\n");
}

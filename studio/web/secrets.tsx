// Secrets by their names: who has them, and what sends them.
import { Badge } from "./parts";
import { line } from "./text";

export interface Secret { name: string; owner: string }
export interface UsedSecret extends Secret { users: string[] }

// Owner says who has a secret.
export const Owner = ({ secret: s }: { secret: Secret }) => <Badge tone={s.owner === "missing" ? "fail" : s.owner === "organisation" ? "wait" : ""}>{line(s.name)}: {s.owner}{s.owner === "organisation" && " (broad)"}</Badge>;

// Advice says what to do about a secret.
export const Advice = ({ secret: s }: { secret: Secret }) =>
  s.owner === "organisation" ? <p class="wait">The secret is the one of the entire organisation, which may have more rights than this tool needs: set one of your own.</p>
  : s.owner === "missing" ? <p class="fail">The secret is not set on this machine: runs start only if their program sets it.</p> : null;

// Secrets are those of the whole workflow; there are no values.
export const Secrets = ({ list }: { list: UsedSecret[] }) => (
  <section class="agent"><ul class="tools">{list.map((s) => <li><div class="flex wrap"><Owner secret={s} /><span class="dim">{s.users.length ? "sent by " + line(s.users.join(", "), 300) : ""}</span></div><Advice secret={s} /></li>)}</ul></section>
);

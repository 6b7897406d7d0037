package temporal

import (
	"encoding/json"
	"flag"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// rerun begins a run with what another one has done, which may be of an earlier program: calls whose node and input are the same are
// answered, others are made.
func (m *commands) rerun(c *cli.Call) int {
	var b begins
	const help = "`inspect --temporal ID --format jsonl` of the program that started it writes its journal to a file, which rerun --temporal accepts instead of ID"
	return c.Rerun(cli.Elsewhere{Flag: "temporal", Define: func(set *flag.FlagSet) { m.beginFlags(set, &b) },
		Read: func(c *cli.Call, id string) (*journal.Journal, int, bool) { return m.journal(c, id, help) },
		Fork: func(c *cli.Call, from string, input []byte, results *journal.Journal) int {
			packed, err := packed(results)
			if err != nil {
				return c.Fail(cli.ExitFault, err.Error(), "")
			}
			if len(packed) > largestPayload {
				b.help = storeHelp
			}
			return m.begin(c, &b, json.RawMessage(input), Setup{Tenant: results.Header().Tenant, From: from}, packed)
		}})
}

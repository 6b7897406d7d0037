//go:build unix

package postgres_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/internal/postgrestest"
	"github.com/flowgen-dev/flowgen/runtime/internal/vacant"
	"github.com/flowgen-dev/flowgen/runtime/sqltool"
	"github.com/flowgen-dev/flowgen/runtime/sqltool/postgres"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Calls share connections, of which there is a bound, and a call that fails has changed nothing.
func TestPool(t *testing.T) {
	t.Cleanup(postgres.Close)
	address := postgrestest.Start(t)
	run := start(t, address)
	do := func(e flow.Effects, s sqltool.Statement) string {
		t.Helper()
		v, err := flow.Call(run, node, query(e, s), struct{}{})
		if err != nil {
			return err.Error()
		}
		return v.String()
	}
	const create = "with made as (select 1) select pg_backend_pid() as pid"
	first := do(flow.Reads, sqltool.Statement{Text: create, Rows: sqltool.One})
	if again := do(flow.Reads, sqltool.Statement{Text: create, Rows: sqltool.One}); again != first {
		t.Errorf("%s, then %s: another connection", first, again)
	}
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	if _, err := c.Exec(t.Context(), "create table log (n int)"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 60 {
		all.Go(func() {
			add := postgres.Bind[struct{}, value.Value]("t.add@1", flow.Writes, sqltool.Statement{Database: "DB", Text: "insert into log values ($1)", Rows: sqltool.None},
				func(struct{}) sqltool.Args { return sqltool.Args{int64(n)} })
			if _, err := flow.Call(run, node, add, struct{}{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var conns, rows int
	if err := c.QueryRow(t.Context(), "select count(*) from pg_stat_activity where backend_type = 'client backend'").Scan(&conns); err != nil || conns > 11 {
		t.Errorf("%d connections, %v", conns, err)
	}
	for _, s := range []sqltool.Statement{
		{Text: "insert into log values (100), (101) returning n", Rows: sqltool.One},                  // more than one row
		{Text: "insert into log values (102) returning n / (n - 102) as x", Rows: sqltool.One},        // by zero
		{Text: "insert into log select generate_series(200, 250) returning n", MaxRows: 3},            // too many
		{Text: "with x as (insert into log values (103) returning n) select n, 'NaN'::float8 from x"}, // no JSON
	} {
		if text := do(flow.Writes, s); !strings.Contains(text, "_ERROR: ") && !strings.Contains(text, "POLICY_DENIED: ") {
			t.Errorf("%s: %s", s.Text, text)
		}
	}
	if err := c.QueryRow(t.Context(), "select count(*) from log").Scan(&rows); err != nil || rows != 60 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// A pooler that hands out connections by transaction changes nothing: no session is needed, and reads cannot write.
func TestPooler(t *testing.T) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed: Debian has it in the package pgbouncer")
	}
	t.Cleanup(postgres.Close)
	u, err := url.Parse(postgrestest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	port := vacant.Port(t)
	dir, err := os.MkdirTemp("/tmp", "pooler") // it runs as another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	name := strings.TrimPrefix(u.Path, "/")
	config := fmt.Sprintf(`[databases]
%s = host='%s' dbname=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 100
`, name, u.Query().Get("host"), name, u.User.Username(), port)
	if p := u.Query().Get("port"); p != "" {
		config = strings.Replace(config, " dbname=", " port="+p+" dbname=", 1)
	}
	ini := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(ini, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, ini)
	if os.Getuid() == 0 { // which it refuses to be
		other, err := user.Lookup("nobody")
		if err != nil {
			t.Skip(err)
		}
		id, _ := strconv.Atoi(other.Uid)
		group, _ := strconv.Atoi(other.Gid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(group)}}
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	address := fmt.Sprintf("postgres://%s@127.0.0.1:%s/%s?sslmode=disable", u.User.Username(), port, name)
	eventually.True(t, "pgbouncer listens", func() bool {
		select {
		case err := <-ended:
			ended <- err
			t.Fatal("pgbouncer has ended: ", err, said.String())
		default:
		}
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	run := start(t, address)
	table := query(flow.Writes, sqltool.Statement{Text: "create table log (id uuid, n int)", Rows: sqltool.None})
	if _, err := flow.Call(run, node, table, struct{}{}); err != nil {
		t.Fatal(err, said.String())
	}
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			add := postgres.Bind[struct{}, value.Value]("t.add@1", flow.Writes, sqltool.Statement{Database: "DB", Text: "insert into log values ($1, $2) returning n", Rows: sqltool.One},
				func(struct{}) sqltool.Args { return sqltool.Args{"6ba7b810-9dad-11d1-80b4-00c04fd430c8", int64(n)} })
			if v, err := flow.Call(run, node, add, struct{}{}); err != nil || v.String() != fmt.Sprintf(`{"n":%d}`, n) {
				t.Error(v, err)
			}
			read := query(flow.Reads, sqltool.Statement{Text: "select count(*) > 0 as some from log where n = $1", Rows: sqltool.One}, int64(n))
			if v, err := flow.Call(run, node, read, struct{}{}); err != nil || v.String() != `{"some":true}` {
				t.Error(v, err)
			}
			wrong := query(flow.Reads, sqltool.Statement{Text: "delete from log", Rows: sqltool.None})
			if _, err := flow.Call(run, node, wrong, struct{}{}); value.ToolErrorOf(err) == nil || value.ToolErrorOf(err).Code != value.PolicyDenied {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

package postgres

import (
	"crypto/sha256"
	"database/sql"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	maxConns = 10               // of an address: more calls wait for one
	maxPools = 64               // addresses whose connections are kept; tenants may have one each
	idleConn = 30 * time.Second // without a call
	oldConn  = 30 * time.Minute // then a new one is opened: servers behind a name change
)

// pools are those of the program.
var pools poolList

// poolList has a pool for each address. An address is known by its hash, as it holds a password.
type poolList struct {
	mu   sync.Mutex // guards the following
	open map[[sha256.Size]byte]*pool
}

type pool struct {
	*sql.DB
	calls int // that go on; guarded by poolList.mu
}

// take returns the pool of an address for a call, which gives it back.
func (l *poolList) take(address string) (*pool, error) {
	key := sha256.Sum256([]byte(address))
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.open[key]; p != nil {
		p.calls++
		return p, nil
	}
	c, err := pgx.ParseConfig(address)
	if err != nil { // its text can hold the password
		return nil, value.Errorf(value.AuthRequired, "the address of the database cannot be read: write postgres://user@host:5432/database")
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	// Statements without a name, described in the transaction that runs them: those with one are lost when a pooler changes the server.
	c.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxIdleTime(idleConn)
	db.SetConnMaxLifetime(oldConn)
	if len(l.open) >= maxPools {
		l.drop(1)
	}
	if l.open == nil {
		l.open = map[[sha256.Size]byte]*pool{}
	}
	l.open[key] = &pool{db, 1}
	return l.open[key], nil
}

func (l *poolList) give(p *pool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.calls--
}

// drop closes and forgets up to n pools without calls. Where all have some, any new one is kept besides.
func (l *poolList) drop(n int) {
	for key, p := range l.open {
		if n > 0 && p.calls == 0 {
			delete(l.open, key)
			_ = p.Close() // its connections are idle
			n--
		}
	}
}

// Close closes the connections that no call uses, for programs and tests that end in an orderly way.
func Close() {
	pools.mu.Lock()
	defer pools.mu.Unlock()
	pools.drop(len(pools.open))
}

// transaction is the statement of one call.
type transaction struct {
	*sql.Tx
	pool *pool
}

// End implements sqltool.Conn.
func (t *transaction) End(done bool) error {
	defer pools.give(t.pool)
	if !done {
		_ = t.Rollback() // why is known
		return nil
	}
	return t.Commit()
}

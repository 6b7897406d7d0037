// Package bank stands for the code of a team: a function that a workflow calls as a tool.
package bank

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// ErrFunds is the error of a payment that the account cannot cover.
var ErrFunds = errors.New("insufficient funds")

// Pay pays and returns the number of the payment. It writes to the file that LEDGER names, where tests count payments.
func Pay(_ context.Context, employee string, euros int64) (string, error) {
	if euros > 10_000 {
		return "", fmt.Errorf("paying %s: %w", employee, ErrFunds)
	}
	ledger, err := os.OpenFile(os.Getenv("LEDGER"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(ledger, "%s %d\n", employee, euros)
	return fmt.Sprintf("%s-%d", employee, euros), errors.Join(err, ledger.Close())
}

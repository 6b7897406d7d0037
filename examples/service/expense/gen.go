package expense

//go:generate go run ../../../cmd/flowgen generate expense.flowgen.yaml

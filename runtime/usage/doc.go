// Package usage has the tokens and the cost of model calls.
//
// A tool whose output is a Spender reports its Usage: the tokens of its call, and the cost, if its provider's prices are
// known. Events of a run have it, and budgets of policies are counted in it as Spend. Modelled outputs also say which
// model answered.
//
// USD is exact: an integer of billionths of a dollar. ParseUSD reads a decimal, USD.String writes it.
//
// The package imports the standard library and package value. Its values may be copied.
package usage

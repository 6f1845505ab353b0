// Package offers reads the market: each NodePool with a value for every label that it
// leaves open (a template), and each instance type × offering with its labels as columns,
// in rank order. Which pods and daemons may go where is worked out in bit rows over them.
// It says what a policy makes of an offer: what it costs, and whether it may be bought.
package offers

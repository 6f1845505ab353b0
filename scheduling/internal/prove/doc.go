// Package prove finds the lower bound on the price of every plan for a compiled problem, and
// the certificate that goes with it. It states the bound's instance, with running nodes as
// room that is free, and with zones told apart where pods are spread over them.
package prove

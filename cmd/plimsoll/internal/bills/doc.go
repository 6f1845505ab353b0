// Package bills applies the commitments of --billing to an input: the offerings that they pay for become part of its
// catalogs, and its nodes say which commitment they draw on. It settles the bill before and after a plan.
package bills

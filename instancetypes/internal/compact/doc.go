// Package compact stores tables of facts small enough to embed in a program.
//
// A [Table] is a list of named columns of equal length, with named facts about the
// whole. Its form is text under gzip, column after column, since neighbours in a
// column resemble each other and compress well:
//
//	plimsoll-table 1
//	fact<TAB>region<TAB>us-east-1
//	rows<TAB>2
//	column<TAB>name
//	m5.large
//	m5.xlarge
//	column<TAB>vcpu
//	2
//	4
//
// A fact's key and a column's name hold no tab, and nothing holds a line feed. Rows
// come after all facts and before all columns; every column has as many lines as
// there are rows. The same table makes the same bytes in every run of one Go
// release; another release may compress otherwise, never write another text.
//
// The bytes are embedded and trusted, yet [Decode] treats them as if they were not:
// whatever it reads, it returns a table or an error, and uses memory in proportion
// to at most [MaxText] bytes of text.
package compact

// Package clouds opens the catalogs and prices that are named on the command lines of programs: the register of embedded
// catalogs, by names such as ec2/eu-west-1, and files of instance types and prices.
package clouds

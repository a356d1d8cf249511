// Package calc evaluates expressions of the layout algebra in CuTe's text form and with CuTe's function names.
//
//	right_inverse(((1,4),(4,8)):((128,8),(32,1)))
//	A=(8,64):(64,1); B=Sw<3,3,3> o 0 o A; slice_and_offset((3,_), B)
//	zipped_divide((M,K):(K,1), (128,32))
//	upcast<16>((256,128):(1,256))            template arguments follow the others: upcast(L, 16)
//	A=(4,8):(8,1); A(2,3)                    a bound layout is called with a coordinate
//
// Statements are separated by semicolons; the value is the last one's. Unbound names are integers of at least 1.
// Integers have 63 bits and parentheses nest up to 64 deep; anything beyond is an error.
//
// A text that cannot be read is a *SyntaxError with the place. An operation that refuses its arguments gives
// the *algebra.Error of the operation.
package calc

// SPDX-License-Identifier: Apache-2.0
// The program's row table of commands.
int main(void) { return 2; }

"""The wire's tests send frames with the tester of the DUTs' tests; `claims` are those of apply, and
`program` is here."""

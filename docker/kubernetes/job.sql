-- The job; both topics are there already, or partitions and replicas are given.
CREATE TABLE orders (id bigint NOT NULL, customer text NOT NULL, amount numeric(12,2) NOT NULL)
    WITH (topic = 'orders');
CREATE TABLE customer_totals (customer text PRIMARY KEY, orders bigint, amount numeric(12,2))
    WITH (topic = 'customer_totals');
INSERT INTO customer_totals SELECT customer, count(*), sum(amount) FROM orders GROUP BY customer;

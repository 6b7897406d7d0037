create table stock (
  item text primary key not null,
  amount integer not null check (amount >= 0),
  price real not null
);

create table orders (
  id integer primary key,
  customer text not null,
  item text not null references stock (item),
  amount integer not null,
  note text
);

create trigger taken after insert on orders begin
  update stock set amount = amount - new.amount where item = new.item;
end;

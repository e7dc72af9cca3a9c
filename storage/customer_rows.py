"""Customers: create, find and delete them."""

from unicodedata import normalize

from sqlalchemy import delete, select

from models import ApiKey, Article, Customer, db
from storage import StorageError

DEMO_CUSTOMER = "Demo"  # a reserved name: only seed.py creates this customer


def delete_customer(customer: Customer) -> None:
    """Delete the customer with its articles and keys in the session's transaction."""
    for model in (Article, ApiKey):
        db.session.execute(delete(model).where(model.customer_id == customer.id))
    db.session.delete(customer)


def find_customer(name: str) -> Customer | None:
    """Return the customer with this name, or None."""
    return db.session.scalar(select(Customer).filter_by(name=name))


def create_customer(name: str) -> Customer:
    """Create a customer in the session's transaction. The caller has checked the name."""
    customer = Customer(name=name)
    db.session.add(customer)
    db.session.flush()
    return customer


def check_new_name(name: str, renamed: Customer | None = None) -> None:
    """Raise StorageError if the name looks like the demo's, or like that of a customer other than `renamed`."""
    if _appearance(name) == _appearance(DEMO_CUSTOMER):
        raise StorageError(f"{name!r} is reserved for the demo, which seed.py creates. Choose another name.")
    for customer in db.session.scalars(select(Customer)):
        if customer is not renamed and _appearance(customer.name) == _appearance(name):
            reason = f"There is already a customer {customer.name!r}, whose name looks the same"
            raise StorageError(f"{reason}. Use that customer, or choose another name.")


def _appearance(name: str) -> str:
    """Return what two names that look alike have in common: NFKC, without case, and with single spaces."""
    return " ".join(normalize("NFKC", normalize("NFKC", name).casefold()).split())
